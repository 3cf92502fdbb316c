// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/file_pages.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_directory.h"
#include "lab/machine/read_speed.h"
#include "lab/machine/state_view.h"

namespace hearth::lab {
namespace {

using namespace literals;
using ::testing::HasSubstr;

struct Share {
  const char* name;
  double share;
  PagePattern pattern;
};
class Shares : public ::testing::TestWithParam<Share> {
 protected:
  Shares() { std::ofstream{path_} << std::string(kSize, 'x'); }

  static constexpr std::size_t kSize = (20 << 20) + 1234;
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "model.gguf";
};

TEST_P(Shares, PiecesAreInOrderAndOfThatSize) {
  const auto pieces = pieces_of(Bytes{kSize}, GetParam().share, GetParam().pattern);
  std::uint64_t sum = 0, end = 0;
  for (const Range& piece : pieces) {
    EXPECT_GE(piece.offset, end);
    end = piece.end();
    sum += piece.size.count();
  }
  EXPECT_LE(end, kSize);
  EXPECT_NEAR(static_cast<double>(sum) / kSize, GetParam().share, 0.003);
}

TEST_P(Shares, BecomeSoOnTheRealKernel) {
  if (!resident_share(Files::real(), path_)) GTEST_SKIP() << "this kernel does not tell";
  const Result<> set = set_file_pages(Files::real(), path_, GetParam().share, GetParam().pattern);
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_NEAR(*resident_share(Files::real(), path_), GetParam().share, 0.01);
  const StateProof proof = observe_state(Files::real(), {::getpid()}, {path_});
  EXPECT_NEAR(*proof.pages, GetParam().share, 0.01);
  EXPECT_EQ(proof.load_set, Bytes{kSize});
  EXPECT_EQ(proof.processes, 1);
  EXPECT_EQ(proof.mapped, false);
  EXPECT_GT(proof.resident, 1_MiB);
  EXPECT_LT(*proof.holder_age_s, 3600);
}

INSTANTIATE_TEST_SUITE_P(All, Shares,
                         ::testing::Values(Share{"None", 0.0, PagePattern::kSpread},
                                           Share{"Tenth", 0.1, PagePattern::kSpread},
                                           Share{"Half", 0.5, PagePattern::kSpread},
                                           Share{"HalfHead", 0.5, PagePattern::kHead},
                                           Share{"Most", 0.9, PagePattern::kSpread},
                                           Share{"All", 1.0, PagePattern::kHead}),
                         [](const auto& test) { return test.param.name; });

TEST(FilePages, ThatSomebodyMapsAreRefusedByName) {
  const TemporaryDirectory directory;
  const std::string path = std::filesystem::canonical(directory.path()).string() + "/model.gguf";
  std::ofstream{path} << std::string(4 << 20, 'x');
  if (!resident_share(Files::real(), path)) GTEST_SKIP() << "this kernel does not tell";
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  void* map = ::mmap(nullptr, 4 << 20, PROT_READ, MAP_SHARED | MAP_POPULATE, file.get(), 0);
  ASSERT_NE(map, MAP_FAILED);
  EXPECT_EQ(observe_state(Files::real(), {::getpid()}, {path}).mapped, true);
  const Result<> set = set_file_pages(Files::real(), path, 0.0, PagePattern::kSpread);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), ErrorCode::kConflict);
  EXPECT_THAT(set.error().message(), HasSubstr("mapped by " + std::to_string(::getpid()) + " ("));
  EXPECT_TRUE(set_file_pages(Files::real(), path, 1.0, PagePattern::kSpread)) << "that drops none";
  ::munmap(map, 4 << 20);
}

TEST(FilePages, OfFilesThatAreEmptyOrGone) {
  const TemporaryDirectory directory;
  std::ofstream{directory / "empty"};
  EXPECT_TRUE(set_file_pages(Files::real(), directory / "empty", 0.5, PagePattern::kSpread));
  const Result<> gone =
      set_file_pages(Files::real(), directory / "gone", 0.5, PagePattern::kSpread);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(observe_state(Files::real(), {}, {directory / "gone"}).pages, std::nullopt);
}

TEST(ReadSpeed, IsMeasuredWithoutTouchingPages) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.gguf";
  std::ofstream{path} << std::string(8 << 20, 'x');
  if (!set_file_pages(Files::real(), path, 0.0, PagePattern::kSpread)) GTEST_SKIP();
  const auto rate = fastest_direct_read(path);
  if (!rate) GTEST_SKIP() << "no direct reads on this file system";
  EXPECT_GT(*rate, 1e5);
  EXPECT_EQ(*resident_share(Files::real(), path), 0.0);
  EXPECT_EQ(fastest_direct_read(directory / "gone"), std::nullopt);
}

}  // namespace
}  // namespace hearth::lab

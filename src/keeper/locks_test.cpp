// SPDX-License-Identifier: Apache-2.0
#include "keeper/locks.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/files.h"
#include "base/temporary_directory.h"

namespace hearth::keeper {
namespace {

using namespace literals;

class LocksTest : public testing::Test {
 protected:
  LocksTest() {
    const std::string path = directory_.path() + "/file";
    std::ofstream{path, std::ios::binary} << std::string(1 << 20, 'x');
    files_.push_back(*Files::real().open_read(path));
  }

  static wire::KeepMessage pieces(std::vector<wire::KeepMessage::Piece> all) {
    wire::KeepMessage message;
    message.pieces = std::move(all);
    return message;
  }

  Result<> keep(std::uint64_t id, std::vector<wire::KeepMessage::Piece> all) {
    return locks_.keep(id, pieces(std::move(all)), files_, [] { return true; });
  }

  TemporaryDirectory directory_;
  std::vector<Fd> files_;
  Locks locks_{256_KiB};
};

// VmLck of this process.
Bytes locked_by_the_kernel() {
  const std::string status = read_small_file("/proc/self/status");
  const std::size_t at = status.find("VmLck:");
  return Bytes{std::strtoull(status.c_str() + at + 6, nullptr, 10) << 10};
}

TEST_F(LocksTest, HoldWholePagesUntilToldOtherwise) {
  ASSERT_TRUE(keep(1, {{0, 100, Bytes{5000}}, {0, 1 << 16, Bytes{4096}}}));
  EXPECT_EQ(locks_.locked(), Bytes{3 * 4096});
  EXPECT_EQ(locked_by_the_kernel(), Bytes{3 * 4096});
  ASSERT_TRUE(keep(1, {{0, 0, Bytes{4096}}}));
  EXPECT_EQ(locked_by_the_kernel(), Bytes{4096});
  locks_.forget(1);
  locks_.forget(7);
  EXPECT_EQ(locks_.locked(), Bytes{});
  EXPECT_EQ(locked_by_the_kernel(), Bytes{});
}

TEST_F(LocksTest, APageOfSeveralPiecesCountsOnce) {
  ASSERT_TRUE(keep(1, {{0, 9000, Bytes{10}}, {0, 0, Bytes{5000}}, {0, 6000, Bytes{100}}}));
  EXPECT_EQ(locks_.locked(), Bytes{3 * 4096});
  EXPECT_EQ(locked_by_the_kernel(), Bytes{3 * 4096});
}

TEST_F(LocksTest, StopBetweenTwoSteps) {
  int steps = 0;
  const auto kept = locks_.keep(1, pieces({{0, 0, 1_MiB}}), files_, [&] { return steps++ < 2; });
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code(), ErrorCode::kConflict);
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(locks_.locked(), Bytes{});
  EXPECT_EQ(locked_by_the_kernel(), Bytes{});
}

TEST_F(LocksTest, APieceOfNoFileLeavesNothing) {
  EXPECT_EQ(keep(1, {{0, 0, Bytes{4096}}, {1, 0, Bytes{1}}}).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(locked_by_the_kernel(), Bytes{});
}

// In a child of the test: a process without the capability, whoever runs the tests.
void give_up_privileges(rlim_t limit) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) std::exit(10);
  const rlimit allowed{limit, limit};
  if (::setrlimit(RLIMIT_MEMLOCK, &allowed) != 0) std::exit(11);
}

using LocksDeathTest = LocksTest;

TEST_F(LocksDeathTest, TheLimitIsToldWithItsRemedy) {
  const auto child = [this] {
    give_up_privileges(64 << 10);
    const auto small = keep(1, {{0, 0, Bytes{32 << 10}}});
    const auto large = keep(2, {{0, 0, Bytes{1 << 20}}});
    if (!small || large || large.error().code() != ErrorCode::kNoSpace) std::exit(1);
    std::cerr << large.error().message() << std::endl;
    std::exit(locks_.locked() == Bytes{32 << 10} ? 0 : 2);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0),
              "1.0 MiB.*0.1 MiB.*LimitMEMLOCK=.*--ulimit memlock=.*setcap");
}

}  // namespace
}  // namespace hearth::keeper

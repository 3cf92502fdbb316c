// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/page_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <charconv>
#include <functional>
#include <set>
#include <vector>

#include "layers/pages/residency.h"
#include "layers/pages/small_file.h"
#include "layers/testing/failing_files.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using namespace literals;
using testing::TempDir;

constexpr Bytes kSize = 32_MiB;

// What this process had from devices so far.
Bytes device_reads() {
  const std::string io = small_text(Files::real(), "/proc/self/io");
  constexpr std::string_view kKey = "read_bytes: ";
  const std::size_t at = io.find(kKey);
  std::uint64_t count = 0;
  if (at != io.npos) {
    std::from_chars(io.data() + at + kKey.size(), io.data() + io.size(), count);
  }
  return Bytes{count};
}

class PageReader : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = dir_.write("model", std::string(kSize.count(), 'm'));
    file_ = Fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
    ASSERT_EQ(::fsync(file_.get()), 0);
    set_ = LoadSet{FileRanges{path_, {Range{0, kSize}}}};
    drop(0, kSize);
    const Residency now = measure();
    if (now.method == ResidencyMethod::kUnknown || now.resident > Bytes{}) {
      GTEST_SKIP() << "pages of this file system cannot be dropped or counted";
    }
  }
  Residency measure() const { return measure_residency(Files::real(), set_).value(); }
  void drop(std::uint64_t offset, Bytes size) const {
    ::posix_fadvise(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(size.count()),
                    POSIX_FADV_DONTNEED);
  }
  void read_all() const {
    std::vector<std::byte> buffer(kSize.count());
    ASSERT_EQ(Files::real().read_at(file_, 0, buffer).value(), kSize.count());
  }
  Result<ReadReport> read(const ReadStyle& style) {
    return read_missing(ReadWorld{Files::real(), Clock::real(), room_, pinned_}, set_, style,
                        progress_);
  }

  TempDir dir_;
  std::string path_;
  Fd file_;
  LoadSet set_;
  SharedProgress progress_;
  std::function<std::optional<Bytes>()> room_;
  Bytes pinned_;
};

struct Hole {
  const char* name;
  std::uint64_t every;  // a hole and what is between two of them have this size
};
void PrintTo(const Hole& c, std::ostream* out) { *out << c.name; }
class HalfResident : public PageReader, public ::testing::WithParamInterface<Hole> {};

TEST_P(HalfResident, ReadsTheMissingHalfAndNoMore) {
  for (const int readers : {1, 4}) {
    read_all();
    for (std::uint64_t at = 0; at < kSize.count(); at += 2 * GetParam().every) {
      drop(at, Bytes{GetParam().every});
    }
    const Bytes missing = measure().missing();
    // The kernel keeps what shares a folio with pages that stay.
    ASSERT_GE(missing, 8_MiB);
    ASSERT_LE(missing, 17_MiB);
    ReadStyle style;
    style.readers = readers;
    const Bytes before = device_reads();
    const auto report = read(style);
    const Bytes from_device = device_reads() - before;
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_TRUE(report->complete);
    EXPECT_EQ(report->read, report->missing);
    EXPECT_GE(report->read, missing);
    EXPECT_LE(report->read.count() * 100, missing.count() * 105);
    EXPECT_LE(from_device.count() * 100, missing.count() * 105);
    EXPECT_EQ(measure().missing(), Bytes{});
  }
}
INSTANTIATE_TEST_SUITE_P(Pages, HalfResident,
                         ::testing::Values(Hole{"Halves", 16 << 20}, Hole{"MiB1", 1 << 20},
                                           Hole{"KiB256", 256 << 10}, Hole{"KiB64", 64 << 10}),
                         [](const auto& test) { return test.param.name; });

TEST_F(PageReader, ReadsNothingBehindARangeItWasAskedFor) {
  set_.front().ranges = {Range{4 << 20, 4_MiB}};
  const Bytes before = device_reads();
  ASSERT_TRUE(read({}));
  EXPECT_LE(device_reads() - before, 4_MiB + 64_KiB);
  EXPECT_EQ(residency_of(file_, Range{0, kSize}).resident, 4_MiB);
}

// Notes where it was asked to read.
class NotingFiles : public testing::ForwardingFiles {
 public:
  Result<std::size_t> read_at(const Fd& file, std::uint64_t offset,
                              std::span<std::byte> into) const override {
    offsets.push_back(offset);
    return Files::real().read_at(file, offset, into);
  }
  mutable std::vector<std::uint64_t> offsets;
};

TEST_F(PageReader, GoesBackwardWhenAsked) {
  const NotingFiles files;
  ReadStyle style;
  style.readers = 1;
  style.block = 16_MiB;
  style.direction = ReadDirection::kBackward;
  ASSERT_TRUE(read_missing(ReadWorld{files, Clock::real()}, set_, style, progress_));
  const std::vector<std::uint64_t> wanted{16 << 20, 0};
  EXPECT_EQ(files.offsets, wanted);
}

// The room is what could be given back too: half of the set is there, so all of it does not fit.
TEST_F(PageReader, ReadsOnlyWhatFitsBesideWhatIsThere) {
  read_all();
  drop(0, 16_MiB);
  room_ = [] { return std::optional{20_MiB}; };
  const auto report = read({});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->complete);
  EXPECT_LE(report->read, 4_MiB);
  EXPECT_EQ(report->read + report->left_out, report->missing);
  EXPECT_GE(report->left_out, 12_MiB);
  EXPECT_GE(residency_of(file_, Range{16 << 20, 16_MiB}).resident, 16_MiB) << "none pushed out";
}

TEST_F(PageReader, PinnedPagesTakeNoRoom) {
  read_all();
  drop(0, 16_MiB);
  room_ = [] { return std::optional{20_MiB}; };
  pinned_ = 16_MiB;
  const auto report = read({});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->left_out, Bytes{});
  EXPECT_EQ(measure().missing(), Bytes{});
}

TEST_F(PageReader, WithoutAKnownRoomReadsAll) {
  room_ = [] { return std::optional<Bytes>{}; };
  ASSERT_TRUE(read({}));
  EXPECT_EQ(measure().missing(), Bytes{});
}

TEST_F(PageReader, ManyReadersReportEachErrorOnce) {
  ReadStyle style;
  style.readers = 8;
  style.block = 1_MiB;
  for (int call = 2; call <= 34; call += 8) {
    drop(0, kSize);
    const testing::FailingFiles files{call};
    const auto report = read_missing(ReadWorld{files, Clock::real()}, set_, style, progress_);
    EXPECT_EQ(report.has_value(), !files.failed()) << call;
  }
}

TEST_F(PageReader, ProgressEndsAtWhatWasMissing) {
  ASSERT_TRUE(read({}));
  EXPECT_EQ(progress_.done(), kSize);
  EXPECT_EQ(progress_.total(), kSize);
}

}  // namespace
}  // namespace hearth

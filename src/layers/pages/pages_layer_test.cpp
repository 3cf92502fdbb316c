// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/pages_layer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/sim_event_loop.h"
#include "layers/testing/failing_files.h"
#include "layers/testing/run_task.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using namespace literals;
using testing::FailingFiles;
using testing::run_task;
using testing::TempDir;

constexpr Bytes kSize{12 << 20};

class PagesLayerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = dir_.write("model", std::string(kSize.count(), 'm'));
    const Fd file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
    ASSERT_EQ(::fsync(file.get()), 0);
    set_ = LoadSet{FileRanges{path_, {Range{0, kSize}}}};
    ASSERT_TRUE(drop_pages(Files::real(), set_));
    const Residency now = measure();
    if (now.method == ResidencyMethod::kUnknown || now.resident > Bytes{}) {
      GTEST_SKIP() << "pages of this file system cannot be dropped or counted";
    }
  }

  Residency measure() const { return measure_residency(Files::real(), set_).value(); }
  void read_range(std::uint64_t offset, Bytes size) const {
    const Fd file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM);
    std::vector<std::byte> buffer(size.count());
    ASSERT_EQ(Files::real().read_at(file, offset, buffer).value(), size.count());
  }
  static ReadWorld real_world() { return ReadWorld{Files::real(), Clock::real()}; }
  PagesLayer layer(const Files& files) {
    return PagesLayer{PagesLayer::World{loop_, pool_, files, Clock::real(),
                                        [this](const std::string&) { return std::optional{set_}; },
                                        [this](const std::string&) { return mapped_; }}};
  }

  TempDir dir_;
  std::string path_;
  LoadSet set_;
  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  bool mapped_ = false;
  const Subject subject_{"a", "m", ""};
};

TEST_F(PagesLayerTest, CountsWhatWasReadAndNothingElse) {
  read_range(4 << 20, 1_MiB);
  const Residency now = measure();
  EXPECT_EQ(now.total, kSize);
  EXPECT_GE(now.resident, 1_MiB);
  EXPECT_LT(now.resident, 3_MiB);
}

TEST_F(PagesLayerTest, ReadsOnlyWhatIsMissing) {
  read_range(0, 4_MiB);
  const Bytes missing = measure().missing();
  SharedProgress progress;
  const auto report = read_missing(real_world(), set_, {}, progress);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->read, missing);
  EXPECT_EQ(progress.done(), missing);
  EXPECT_EQ(measure().missing(), Bytes{});

  const FailingFiles counting{testing::kNever};
  const auto again = read_missing(ReadWorld{counting, Clock::real()}, set_, {}, progress);
  EXPECT_EQ(again->read, Bytes{});
  EXPECT_EQ(counting.reads(), 0);
}

TEST_F(PagesLayerTest, ACancelEndsTheReadEarly) {
  SharedProgress progress;
  progress.cancel();
  const auto report = read_missing(real_world(), set_, {}, progress);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->complete);
  EXPECT_EQ(report->read, Bytes{});
}

TEST_F(PagesLayerTest, GoesThroughItsLevels) {
  PagesLayer pages = layer(Files::real());
  EXPECT_EQ(pages.observe(subject_).detail, "not measured yet");
  auto cold = run_task(loop_, pages.refresh(subject_));
  ASSERT_TRUE(cold);
  EXPECT_EQ(cold->cause, PagesCause::kNeverRead);
  EXPECT_EQ(pages.observe(subject_).level, "absent");
  EXPECT_EQ(pages.cost_to_warm(subject_).bytes, kSize);
  EXPECT_FALSE(pages.cost_to_warm(subject_).known);

  SharedProgress progress;
  const auto warm = run_task(loop_, pages.warm(subject_, Target{}, progress));
  ASSERT_TRUE(warm) << warm.error().message();
  EXPECT_EQ(warm->level, "resident");
  EXPECT_EQ(warm->fraction, 1.0);
  EXPECT_EQ(pages.snapshot("a")->cause, PagesCause::kNone);
  EXPECT_TRUE(pages.read_rate().has_value());

  const auto gone = run_task(loop_, pages.cool(subject_, Target{}));
  ASSERT_TRUE(gone);
  EXPECT_EQ(*gone, kSize);
  EXPECT_EQ(pages.snapshot("a")->cause, PagesCause::kDropped);
  EXPECT_TRUE(pages.cost_to_warm(subject_).known);
  EXPECT_GT(pages.cost_to_warm(subject_).time, Duration::zero());
}

TEST_F(PagesLayerTest, KeepsPagesThatAWorkerMaps) {
  PagesLayer pages = layer(Files::real());
  mapped_ = true;
  read_range(0, 1_MiB);
  const auto gone = run_task(loop_, pages.cool(subject_, Target{}));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), ErrorCode::kConflict);
  EXPECT_GE(measure().resident, 1_MiB);
}

TEST_F(PagesLayerTest, AnotherFileInTheSamePlaceIsReplaced) {
  PagesLayer pages = layer(Files::real());
  ASSERT_TRUE(run_task(loop_, pages.refresh(subject_)));
  const auto other = run_task(loop_, pages.refresh(Subject{"b", "m", ""}));
  EXPECT_EQ(other->cause, PagesCause::kReplaced);
  EXPECT_EQ(pages.snapshot("a"), nullptr);
}

TEST_F(PagesLayerTest, ACancelledWarmSaysSo) {
  PagesLayer pages = layer(Files::real());
  SharedProgress progress;
  progress.cancel();
  const auto warm = run_task(loop_, pages.warm(subject_, Target{}, progress));
  ASSERT_FALSE(warm);
  EXPECT_EQ(warm.error().code(), ErrorCode::kCancelled);
}

// Opening, then each of the three pieces' reads.
TEST_F(PagesLayerTest, AFailingDiskIsReported) {
  for (int call = 1; call <= 4; ++call) {
    ASSERT_TRUE(drop_pages(Files::real(), set_));
    const FailingFiles files{call};
    PagesLayer pages = layer(files);
    SharedProgress progress;
    const auto warm = run_task(loop_, pages.warm(subject_, Target{}, progress));
    ASSERT_FALSE(warm) << call;
    EXPECT_EQ(warm.error().code(), ErrorCode::kUnavailable);
  }
}

TEST_F(PagesLayerTest, AFileThatShrankIsReported) {
  ASSERT_EQ(::truncate(path_.c_str(), 5 << 20), 0);
  SharedProgress progress;
  const auto report = read_missing(real_world(), set_, {}, progress);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace hearth

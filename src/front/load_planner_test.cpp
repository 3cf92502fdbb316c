// SPDX-License-Identifier: Apache-2.0
#include "front/load_planner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/sim_event_loop.h"
#include "layers/testing/run_task.h"
#include "layers/testing/system_files.h"

namespace hearth::front {
namespace {

using namespace literals;
using testing::run_task;
using testing::SystemFiles;
using Fit = ReadNeed::Fit;

constexpr Bytes kSize = 1_MiB;

// Two models on a disk with heads, and one in memory.
class LoadPlannerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.put("/proc/self/mountinfo",
               "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / /ram rw - tmpfs tmpfs rw\n");
    files_.put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
    files_.put("/sys/devices/sda/queue/rotational", "1\n");
    files_.put("/sys/devices/sda/wwid", "disk-1\n");
    files_.link("/sys/dev/block/8:1", "/sys/devices/sda");
    for (const char* path : {"/a", "/b", "/ram/c"})
      files_.put(path, std::string(kSize.count(), 'm'));
    make_devices();
  }
  void make_devices() {
    planner_.reset();
    devices_ = std::make_unique<Devices>(
        Devices::World{loop_, pool_, pool_, files_, book(), [this] { return serial_; }},
        load_device_book(Files::real(), book()), 1);
    DiskLoadPlanner::World world{
        *devices_, [](const std::string& artifact) { return std::optional{set_of(artifact)}; }};
    world.patience = [] { return std::chrono::seconds{7}; };
    planner_ = std::make_unique<DiskLoadPlanner>(std::move(world));
  }
  std::string book() const { return data_ / "devices.json"; }
  static LoadSet set_of(const std::string& path) { return {FileRanges{path, {Range{0, kSize}}}}; }

  // False where pages of a file cannot be dropped.
  bool make_cold(const std::string& path) {
    const Result<Fd> file = files_.open_read(path);
    if (!file || ::fsync(file->get()) != 0) return false;
    ::posix_fadvise(file->get(), 0, 0, POSIX_FADV_DONTNEED);
    return residency_of(*file, Range{0, kSize}).missing() == kSize;
  }
  LoadPlan plan(const std::string& artifact) {
    return run_task(loop_, planner_->plan(artifact, {}));
  }
  static Task<void> keep(Task<LoadPlan> task, std::optional<LoadPlan>* into) {
    into->emplace(co_await std::move(task));
  }
  void begin(const std::string& artifact, std::optional<LoadPlan>& into) {
    loop_.spawn(keep(planner_->plan(artifact, {}), &into));
    loop_.run_for(std::chrono::seconds{1});
  }

  SystemFiles files_;
  testing::TempDir data_;
  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  SerialReads serial_ = SerialReads::kAuto;
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<DiskLoadPlanner> planner_;
};

TEST_F(LoadPlannerTest, WhatIsThereNeedsNoTicket) {
  const LoadPlan plan = this->plan("/a");
  EXPECT_EQ(plan.ticket, nullptr);
  EXPECT_EQ(plan.waited, Duration::zero());
  EXPECT_EQ(plan.message.read, wire::ReadMode::kBuffered);
  EXPECT_EQ(plan.message.readers, 1) << "of a disk with heads";
  EXPECT_EQ(plan.message.stall_seconds, 5) << "sooner than the kill";
  EXPECT_FALSE(plan.message.stored);
}

TEST_F(LoadPlannerTest, ColdLoadsFromOneDiskWaitForEachOther) {
  if (!make_cold("/a") || !make_cold("/b")) GTEST_SKIP() << "pages cannot be dropped here";
  std::optional<LoadPlan> first, second;
  begin("/a", first);
  begin("/b", second);
  ASSERT_TRUE(first);
  EXPECT_NE(first->ticket, nullptr);
  EXPECT_FALSE(second);
  first->ticket.reset();
  loop_.run_for(std::chrono::seconds{1});
  ASSERT_TRUE(second);
  EXPECT_NE(second->ticket, nullptr);
  EXPECT_GT(second->waited, Duration::zero());
}

TEST_F(LoadPlannerTest, NeverMeansNever) {
  if (!make_cold("/a")) GTEST_SKIP() << "pages cannot be dropped here";
  serial_ = SerialReads::kNever;
  EXPECT_EQ(plan("/a").ticket, nullptr);
}

TEST_F(LoadPlannerTest, AWarmUpMakesRoomForALoad) {
  if (!make_cold("/a") || !make_cold("/b")) GTEST_SKIP() << "pages cannot be dropped here";
  SharedProgress progress;
  ReadTurn turn = run_task(loop_, devices_->turn(set_of("/a"), progress));
  ASSERT_NE(turn.leave, nullptr);
  EXPECT_FALSE(turn.give_way->load());
  std::optional<LoadPlan> load;
  begin("/b", load);
  EXPECT_FALSE(load);
  EXPECT_TRUE(turn.give_way->load());
  turn.leave.reset();
  loop_.run_for(std::chrono::seconds{1});
  EXPECT_TRUE(load);
}

TEST_F(LoadPlannerTest, MemoryIsMapped) {
  serial_ = SerialReads::kAlways;
  const LoadPlan plan = this->plan("/ram/c");
  EXPECT_EQ(plan.message.read, wire::ReadMode::kMapped);
  EXPECT_EQ(plan.ticket, nullptr);
}

TEST_F(LoadPlannerTest, WhatDoesNotFitIsReadPastThePageCache) {
  files_.put("/proc/meminfo", "MemAvailable: 512 kB\n");
  EXPECT_EQ(plan("/a").message.read, wire::ReadMode::kDirect);
}

TEST_F(LoadPlannerTest, FilesThatAreGoneArePlannedByDefault) {
  const LoadPlan plan = this->plan("/gone");
  EXPECT_EQ(plan.message.read, wire::LoadMessage{}.read);
  EXPECT_EQ(plan.ticket, nullptr);
}

TEST_F(LoadPlannerTest, WhatALoadReadIsRemembered) {
  (void)plan("/a");
  wire::LoadedMessage loaded;
  loaded.stages = {Stage{StageKind::kRead, TimePoint{}, TimePoint{} + std::chrono::seconds{1},
                         Bytes{100'000'000}}};
  planner_->note_loaded("/a", loaded);
  planner_->note_loaded("/a", loaded);  // of no plan
  make_devices();
  const std::string shown = run_task(loop_, devices_->shown_for("/a"));
  EXPECT_NE(shown.find("\"bytes_per_s\":100000000,\"reads\":1"), shown.npos) << shown;
  EXPECT_NE(shown.find("\"kind\":\"rotational\""), shown.npos) << shown;
  EXPECT_EQ(shown.find("disk-1"), shown.npos) << "serial numbers are nobody's business";
}

TEST_F(LoadPlannerTest, AReadThatWaitedForRepackingIsNoMeasureOfTheDevice) {
  (void)plan("/a");
  wire::LoadedMessage loaded;
  loaded.repack = "built";
  loaded.stages = {Stage{StageKind::kRead, TimePoint{}, TimePoint{} + std::chrono::seconds{1},
                         Bytes{100'000'000}}};
  planner_->note_loaded("/a", loaded);
  loaded.repack = "none";
  planner_->note_loaded("/a", loaded);  // of no plan
  const std::string shown = run_task(loop_, devices_->shown_for("/a"));
  EXPECT_EQ(shown.find("\"reads\":1"), shown.npos) << shown;
}

struct FitCase {
  const char* name;
  std::optional<Bytes> room;
  Bytes pinned;
  Bytes besides;
  Fit fit;
};
void PrintTo(const FitCase& c, std::ostream* out) { *out << c.name; }
class Fits : public ::testing::TestWithParam<FitCase> {};

TEST_P(Fits, IntoThePageCache) {
  Survey survey;
  survey.shares.resize(1);
  survey.shares[0].residency.total = 1_GiB;
  survey.room = GetParam().room;
  EXPECT_EQ(fit_of(survey, GetParam().pinned, GetParam().besides), GetParam().fit);
}
INSTANTIATE_TEST_SUITE_P(
    Front, Fits,
    ::testing::Values(FitCase{"UnknownRoom", std::nullopt, 0_MiB, 64_GiB, Fit::kFits},
                      FitCase{"Plenty", 4_GiB, 0_MiB, 1_GiB, Fit::kFits},
                      FitCase{"JustNot", 1_GiB, 0_MiB, 0_MiB, Fit::kTooLarge},
                      FitCase{"OwnMemoryCounts", 2_GiB, 0_MiB, 1_GiB, Fit::kTooLarge},
                      FitCase{"PinnedIsThereAlready", 1_GiB, 512_MiB, 0_MiB, Fit::kFits}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::front

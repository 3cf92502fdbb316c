// SPDX-License-Identifier: Apache-2.0
#include "front/disk_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/sim_event_loop.h"

namespace hearth::front {
namespace {

using ::testing::ElementsAre;
using Urgency = DiskScheduler::Urgency;

class DiskSchedulerTest : public ::testing::Test {
 protected:
  // A reader that enters, notes it, and keeps its tickets until let_go().
  struct Reader {
    std::string name{};
    std::unique_ptr<DiskScheduler::Tickets> tickets{};
    bool over = false;  // entered, or gave up
    bool cancelled = false;
    std::shared_ptr<std::atomic<bool>> give_way = std::make_shared<std::atomic<bool>>(false);
  };
  static Task<void> enter(DiskSchedulerTest* test, Reader* reader, std::set<std::string> devices,
                          Urgency urgency) {
    DiskScheduler::Claim claim;
    claim.urgency = urgency;
    claim.cancelled = [reader] { return reader->cancelled; };
    claim.give_way = reader->give_way;
    reader->tickets = co_await test->scheduler_.enter(std::move(devices), std::move(claim));
    reader->over = true;
    if (reader->tickets) test->order_.push_back(reader->name);
  }
  void begin(Reader& reader, std::set<std::string> devices, Urgency urgency) {
    loop_.spawn(enter(this, &reader, std::move(devices), urgency));
    loop_.run_for(std::chrono::seconds{1});
  }
  void let_go(Reader& reader) {
    reader.tickets.reset();
    loop_.run_for(std::chrono::seconds{1});
  }

  SimEventLoop loop_;
  DiskScheduler scheduler_{loop_};
  std::vector<std::string> order_;
};

TEST_F(DiskSchedulerTest, OneAtATimeFirstComeFirstServed) {
  Reader a{.name = "a"}, b{.name = "b"}, c{.name = "c"};
  begin(a, {"hdd"}, Urgency::kRequest);
  begin(b, {"hdd"}, Urgency::kRequest);
  begin(c, {"hdd"}, Urgency::kRequest);
  EXPECT_THAT(order_, ElementsAre("a"));
  EXPECT_TRUE(scheduler_.busy("hdd"));
  EXPECT_EQ(scheduler_.waiting("hdd"), 2);
  let_go(a);
  EXPECT_THAT(order_, ElementsAre("a", "b"));
  let_go(b);
  let_go(c);
  EXPECT_THAT(order_, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(scheduler_.busy("hdd"));
}

TEST_F(DiskSchedulerTest, DevicesDoNotWaitForEachOther) {
  Reader a{.name = "a"}, b{.name = "b"};
  begin(a, {"hdd"}, Urgency::kRequest);
  begin(b, {"nas"}, Urgency::kRequest);
  EXPECT_THAT(order_, ElementsAre("a", "b"));
}

TEST_F(DiskSchedulerTest, RequestsGoBeforeWarmUps) {
  Reader a{.name = "a"}, warm{.name = "warm"}, b{.name = "b"}, c{.name = "c"};
  begin(a, {"hdd"}, Urgency::kRequest);
  begin(warm, {"hdd"}, Urgency::kWarmUp);
  begin(b, {"hdd"}, Urgency::kRequest);
  begin(c, {"hdd"}, Urgency::kRequest);
  EXPECT_FALSE(a.give_way->load()) << "a request is not asked to make room";
  let_go(a);
  let_go(b);
  let_go(c);
  EXPECT_THAT(order_, ElementsAre("a", "b", "c", "warm"));
}

TEST_F(DiskSchedulerTest, AWarmUpIsToldThatARequestWaits) {
  Reader warm{.name = "warm"}, other{.name = "other"}, a{.name = "a"};
  begin(warm, {"hdd"}, Urgency::kWarmUp);
  begin(other, {"hdd"}, Urgency::kWarmUp);
  EXPECT_FALSE(warm.give_way->load());
  begin(a, {"hdd"}, Urgency::kRequest);
  EXPECT_TRUE(warm.give_way->load());
  let_go(warm);
  EXPECT_THAT(order_, ElementsAre("warm", "a"));
}

TEST_F(DiskSchedulerTest, WhoGivesUpLetsTheNextIn) {
  Reader a{.name = "a"}, b{.name = "b"}, c{.name = "c"};
  begin(a, {"hdd"}, Urgency::kRequest);
  begin(b, {"hdd"}, Urgency::kRequest);
  begin(c, {"hdd"}, Urgency::kRequest);
  b.cancelled = true;
  scheduler_.poke();
  loop_.run_for(std::chrono::seconds{1});
  EXPECT_TRUE(b.over);
  EXPECT_EQ(b.tickets, nullptr);
  EXPECT_EQ(scheduler_.waiting("hdd"), 1);
  let_go(a);
  EXPECT_THAT(order_, ElementsAre("a", "c"));
}

TEST_F(DiskSchedulerTest, ALoadOnTwoDevicesWaitsForBothAndNeverForItself) {
  Reader a{.name = "a"}, b{.name = "b"}, c{.name = "c"};
  begin(a, {"nas"}, Urgency::kRequest);
  begin(b, {"hdd", "nas"}, Urgency::kRequest);
  begin(c, {"nas", "hdd"}, Urgency::kRequest);
  EXPECT_THAT(order_, ElementsAre("a"));
  let_go(a);
  EXPECT_THAT(order_, ElementsAre("a", "b"));
  let_go(b);
  EXPECT_THAT(order_, ElementsAre("a", "b", "c"));
}

TEST_F(DiskSchedulerTest, GivingUpHalfWayGivesBackTheFirstHalf) {
  Reader a{.name = "a"}, b{.name = "b"}, c{.name = "c"};
  begin(a, {"nas"}, Urgency::kRequest);
  begin(b, {"hdd", "nas"}, Urgency::kRequest);
  begin(c, {"hdd"}, Urgency::kRequest);
  EXPECT_THAT(order_, ElementsAre("a"));
  b.cancelled = true;
  scheduler_.poke();
  loop_.run_for(std::chrono::seconds{1});
  EXPECT_THAT(order_, ElementsAre("a", "c"));
}

}  // namespace
}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/warm_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "front/warmth/testing/warm_house.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using House = testing::WarmHouse;
namespace fs = std::filesystem;

TEST(WarmKeeper, HoldsTheCheapestRungThatMeetsT) {
  House house;
  house.loop.run_for(1min);
  EXPECT_EQ(house.stands, Rung::kResident);
  EXPECT_EQ(house.applied.size(), 1U);
  EXPECT_EQ(house.keeper->floor_reason("m", HoldingKind::kWeights), FloorReason::kWarmBound);
  EXPECT_EQ(house.keeper->floor_reason("other", HoldingKind::kWeights), FloorReason::kNone);
  const boost::json::object json = house.json();
  EXPECT_EQ(json.at("state"), "unknown");
  EXPECT_EQ(json.at("rung"), "resident");
  EXPECT_EQ(json.at("promise"), "meets");
  EXPECT_EQ(json.at("ttft_ms").to_number<double>(), 800);
  EXPECT_EQ(json.at("idle_gap_s").to_number<double>(), 8 * 3600);
  EXPECT_NEAR(json.at("bound_ms").to_number<double>(), 226, 1);
  EXPECT_EQ(house.keeper->json("other"), "null");
}

TEST(WarmKeeper, IsProvedByRequestsAndProbes) {
  House house;
  for (int day = 0; day < 60; ++day) {
    house.loop.run_for(day % 2 == 0 ? 9h : 30h);
    if (day % 3 != 0) house.ask();
  }
  EXPECT_EQ(house.verdict().state, WarmState::kProved) << house.keeper->json("m");
  EXPECT_EQ(house.verdict().met, house.verdict().of);
  EXPECT_GT(house.probes, 10);
  const boost::json::array last = house.json().at("last").as_array();
  ASSERT_EQ(last.size(), 5U);
  EXPECT_EQ(last[0].at("met"), true);
}

TEST(WarmKeeper, ProbesOnceAnIdlePeriodAndNotAgain) {
  House house;
  house.loop.run_for(100h);
  EXPECT_EQ(house.probes, 1);
  house.ask();
  house.loop.run_for(7h);
  EXPECT_EQ(house.probes, 1);
  house.loop.run_for(100h);
  EXPECT_EQ(house.probes, 2);
  EXPECT_TRUE(house.json().at("probe").at("due_us").is_null());
}

TEST(WarmKeeper, DoesNotProbeWhereThatWouldDisturb) {
  House house;
  house.may_probe = false;
  house.loop.run_for(20h);
  EXPECT_EQ(house.probes, 0);
  house.may_probe = true;
  house.busy = true;
  house.loop.run_for(1h);
  house.busy = false;
  house.harmed = "frigate is harmed";
  house.loop.run_for(1h);
  EXPECT_EQ(house.probes, 0);
  house.harmed = "";
  house.loop.run_for(1h);
  EXPECT_EQ(house.probes, 1);
}

TEST(WarmKeeper, AProbeThatWasNotSentSaysNothing) {
  House house;
  house.probe_error = ErrorCode::kBusy;
  house.loop.run_for(9h);
  EXPECT_GT(house.probes, 1);
  EXPECT_LT(house.probes, 15) << "it tries again after longer and longer pauses";
  EXPECT_EQ(house.verdict().of, 0);
  EXPECT_EQ(house.json().at("probe").at("error"), "no answer");
  house.probe_error = ErrorCode::kUnavailable;
  house.loop.run_for(1h);
  EXPECT_EQ(house.verdict().of, 1);
  EXPECT_EQ(house.verdict().state, WarmState::kMissed);
}

TEST(WarmKeeper, GivesWayWithTheBoundStated) {
  House house;
  house.loop.run_for(1min);
  ASSERT_EQ(house.stands, Rung::kResident);
  EXPECT_FALSE(house.keeper->bound("m")) << "what is wanted can be had";
  house.harmed = "frigate is harmed";
  house.loop.run_for(1min);
  EXPECT_EQ(house.keeper->floor_reason("m", HoldingKind::kWeights), FloorReason::kNone);
  house.stands = Rung::kPages;
  house.loop.run_for(1min);
  const boost::json::object json = house.json();
  EXPECT_EQ(json.at("promise"), "cannot");
  EXPECT_NEAR(json.at("bound_ms").to_number<double>(), 3390, 10);
  EXPECT_EQ(json.at("given_up").at(0).at("layer"), "weights");
  EXPECT_EQ(json.at("given_up").at(0).at("why"), "frigate is harmed");
  const std::optional<WarmBound> bound = house.keeper->bound("m");
  ASSERT_TRUE(bound);
  EXPECT_NEAR(milliseconds_of(bound->bound), 3390, 10);
  EXPECT_THAT(bound->why, ::testing::HasSubstr("weights: frigate is harmed"));
  house.harmed = "";
  house.loop.run_for(15min);
  EXPECT_EQ(house.stands, Rung::kResident);
  EXPECT_TRUE(house.json().at("given_up").as_array().empty());
}

TEST(WarmKeeper, HarmWhileItIsHeldSpoilsThePeriod) {
  House house;
  house.loop.run_for(1h);
  house.harmed = "frigate is harmed";
  house.loop.run_for(20s);
  house.harmed = "";
  house.loop.run_for(9h);
  EXPECT_EQ(house.verdict().of, 1);
  EXPECT_EQ(house.verdict().met, 0);
  EXPECT_EQ(house.json().at("last").at(0).at("harmed"), true);
}

TEST(WarmKeeper, PressureThatRisesGivesItUp) {
  House house;
  house.loop.run_for(1h);
  ASSERT_EQ(house.stands, Rung::kResident);
  house.psi = 3;
  house.loop.run_for(1min);
  EXPECT_EQ(house.keeper->decision("m")->rung, Rung::kNone);
  EXPECT_EQ(house.json().at("given_up").at(0).at("why"),
            "memory pressure rose by 3.0 percent points");
}

TEST(WarmKeeper, WhatWasTakenIsNotTakenBackAtOnce) {
  House house;
  house.loop.run_for(1min);
  house.stands = Rung::kPages;
  house.keeper->gave_way("m", "memory was wanted by qwen-9b");
  house.loop.run_for(5min);
  EXPECT_EQ(house.stands, Rung::kPages);
  EXPECT_EQ(house.json().at("given_up").at(0).at("why"), "memory was wanted by qwen-9b");
  house.loop.run_for(10min);
  EXPECT_EQ(house.stands, Rung::kResident);
}

TEST(WarmKeeper, TriesAgainMoreAndMoreSlowly) {
  House house;
  house.loop.run_for(1min);
  house.cannot_move = true;
  house.stands = Rung::kPages;
  house.applied.clear();
  house.loop.run_for(1h);
  EXPECT_GT(house.applied.size(), 5U);
  EXPECT_LT(house.applied.size(), 15U);
  house.cannot_move = false;
  house.loop.run_for(11min);
  EXPECT_EQ(house.stands, Rung::kResident);
}

TEST(WarmKeeper, ARungThatMissesIsLeftForTheNext) {
  House house;
  house.loop.run_for(1h);
  house.slow = 2s;
  house.loop.run_for(9h);
  EXPECT_EQ(house.verdict().state, WarmState::kMissed);
  house.loop.run_for(1h);
  EXPECT_EQ(house.stands, Rung::kResidentPinned);
}

TEST(WarmKeeper, SleepOfTheMachineIsIdleness) {
  House house;
  house.loop.run_for(1min);
  house.ask();
  house.clocks.sleep(9h);
  house.ask();
  EXPECT_EQ(house.verdict().of, 1);
}

TEST(WarmKeeper, AClockThatIsSetIsNot) {
  House house;
  house.loop.run_for(1min);
  house.ask();
  house.clocks.set_wall(1000h);
  house.ask();
  house.clocks.set_wall(-2000h);
  house.ask();
  EXPECT_EQ(house.verdict().of, 0);
}

TEST(WarmKeeper, OutlivesRestarts) {
  House house;
  house.loop.run_for(9h);
  house.ask();
  ASSERT_EQ(house.verdict().of, 1);
  house.stop();
  house.clocks.sleep(9h);
  house.start();
  EXPECT_EQ(house.verdict().of, 1);
  EXPECT_EQ(fs::status(house.path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  house.may_probe = false;
  house.loop.run_for(1min);
  house.ask();
  EXPECT_EQ(house.verdict().of, 2) << "a server that is down is idle";
  EXPECT_GT(house.json().at("last").at(0).at("gap_s").to_number<double>(), 9 * 3600);
}

TEST(WarmKeeper, LosesAndFindsItsTerms) {
  House house;
  house.loop.run_for(9h);
  ASSERT_EQ(house.verdict().of, 1);
  house.keeper->set({});
  EXPECT_FALSE(house.keeper->verdict("m"));
  EXPECT_EQ(house.keeper->floor_reason("m", HoldingKind::kWeights), FloorReason::kNone);
  house.keeper->answered("m", {});
  house.keeper->set({{"m", {1ms, 8h}}});
  EXPECT_EQ(house.verdict().of, 1);
  EXPECT_EQ(house.verdict().met, 0);
}

TEST(WarmKeeper, AReplacedFileProvesNothing) {
  House house;
  house.loop.run_for(9h);
  house.keeper->rename("m", "n");
  EXPECT_FALSE(house.keeper->verdict("m"));
  ASSERT_TRUE(house.keeper->verdict("n"));
  EXPECT_EQ(house.keeper->verdict("n")->of, 0);
  house.keeper->rename("m", "x");
  house.keeper->forget("n");
  house.keeper->answered("n", {});
  house.loop.run_for(1min);
  EXPECT_FALSE(house.keeper->verdict("n"));
}

TEST(WarmKeeper, TermsMayGoWhileSomethingIsDoneForThem) {
  House house;
  house.stop();
  house.stands = Rung::kNone;
  house.start();
  house.keeper->set({});
  house.loop.run_for(1min);
  house.keeper->set(house.terms);
  house.gone = true;
  house.loop.run_for(1min);
  EXPECT_FALSE(house.keeper->decision("m"));
  EXPECT_TRUE(house.json().at("promise").is_null());
}

}  // namespace
}  // namespace hearth::front

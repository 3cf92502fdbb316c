// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/rung_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hearth::front {
namespace {

using namespace hearth::literals;
using namespace std::chrono_literals;
using Promise = RungDecision::Promise;

constexpr WarmTerms kTerms{800ms, 8h};

// A forecast that errs by a fifth, so that its p95 is some 1.26 times its time.
RungOffer offer(Rung rung, Duration time, Bytes holds = {}) {
  return {rung, {time, time * 4 / 5, time * 6 / 5, true}, holds};
}

std::vector<RungOffer> offers(Duration pages, Duration resident) {
  return {offer(Rung::kPages, pages), offer(Rung::kResident, resident, 4_GiB),
          offer(Rung::kPinnedPages, pages, 5_GiB), offer(Rung::kResidentPinned, resident, 6_GiB)};
}

RungSigns room(Bytes bytes) { return {{}, bytes, 0}; }

TEST(Rung, P95LiesBeyondTheInterval) {
  EXPECT_EQ(p95({100ms, 100ms, 100ms, true}), 100ms);
  EXPECT_NEAR(milliseconds_of(p95({100ms, 50ms, 200ms, true})), 243, 1);
  EXPECT_EQ(p95({{}, {}, 50ms, false}), 50ms);
  EXPECT_EQ(p95({100ms, 90ms, 80ms, true}), 100ms);
  EXPECT_GT(p95({1ns, {}, Duration::max() / 2, false}), 24h);
}

TEST(Rung, NamesAreReadBack) {
  for (int i = 0; i <= static_cast<int>(Rung::kResidentPinned); ++i) {
    const Rung rung = static_cast<Rung>(i);
    EXPECT_EQ(rung_named(name_of(rung)), rung);
  }
  EXPECT_FALSE(rung_named("warm"));
}

struct ChoiceCase {
  const char* name;
  Duration pages, resident;
  Bytes room;
  Rung rung;
  Promise promise;
  std::vector<GivenUp> given_up{};
};
class RungChoices : public ::testing::TestWithParam<ChoiceCase> {};

TEST_P(RungChoices, TakesTheCheapestThatIsGoodEnough) {
  RungChoice choice;
  const auto& [name, pages, resident, free, rung, promise, given_up] = GetParam();
  const RungDecision decision = choice.choose(kTerms, offers(pages, resident), room(free), 1h);
  EXPECT_EQ(decision.rung, rung);
  EXPECT_EQ(decision.promise, promise);
  EXPECT_EQ(decision.given_up, given_up);
  EXPECT_FALSE(decision.reason.empty());
  EXPECT_GT(decision.bound, 0s);
}

INSTANTIATE_TEST_SUITE_P(
    Warmth, RungChoices,
    ::testing::Values(ChoiceCase{"Pages", 500ms, 100ms, 8_GiB, Rung::kPages, Promise::kMeets},
                      ChoiceCase{"Resident", 2s, 100ms, 8_GiB, Rung::kResident, Promise::kMeets},
                      ChoiceCase{"LikelyOnly", 2s, 700ms, 8_GiB, Rung::kResident, Promise::kLikely},
                      ChoiceCase{"Cannot", 9s, 2s, 8_GiB, Rung::kNone, Promise::kCannot},
                      ChoiceCase{"NoRoom",
                                 2s,
                                 100ms,
                                 3_GiB,
                                 Rung::kNone,
                                 Promise::kCannot,
                                 {{"weights", "4.0 GiB would be held and 3.0 GiB may be"}}}),
    [](const auto& test) { return test.param.name; });

TEST(RungChoice, NothingOfferedIsNothingPromised) {
  RungChoice choice;
  const RungDecision decision = choice.choose(kTerms, {}, room(8_GiB), 1h);
  EXPECT_EQ(decision.rung, Rung::kNone);
  EXPECT_EQ(decision.promise, Promise::kCannot);
  EXPECT_EQ(decision.reason, "there is no way to keep it warm now");
}

TEST(RungChoice, FloorsAreOfWhatTheRungKeeps) {
  RungDecision decision;
  EXPECT_EQ(decision.floor_reason(HoldingKind::kHollowWorker), FloorReason::kNone);
  decision.rung = Rung::kResident;
  EXPECT_EQ(decision.floor_reason(HoldingKind::kWeights), FloorReason::kWarmBound);
  EXPECT_EQ(decision.floor_reason(HoldingKind::kHollowWorker), FloorReason::kWarmBound);
  EXPECT_EQ(decision.floor_reason(HoldingKind::kPinnedPages), FloorReason::kNone);
  EXPECT_EQ(decision.floor_reason(HoldingKind::kPrefixBlocks), FloorReason::kNone);
  decision.rung = Rung::kPinnedPages;
  EXPECT_EQ(decision.floor_reason(HoldingKind::kWeights), FloorReason::kNone);
  EXPECT_EQ(decision.floor_reason(HoldingKind::kPinnedPages), FloorReason::kWarmBound);
}

TEST(RungChoice, GoesUpAtOnceAndDownAfterAWhile) {
  RungChoice choice;
  const auto at = [&](Duration now, Duration pages) {
    return choice.choose(kTerms, offers(pages, 100ms), room(8_GiB), now).rung;
  };
  EXPECT_EQ(at(1h, 400ms), Rung::kPages);
  EXPECT_EQ(at(1h + 10s, 2s), Rung::kResident);
  EXPECT_EQ(at(1h + 20s, 400ms), Rung::kResident);
  EXPECT_EQ(at(2h, 600ms), Rung::kResident) << "it is not enough with something to spare";
  EXPECT_EQ(at(2h + 10s, 400ms), Rung::kResident);
  EXPECT_EQ(at(3h, 400ms), Rung::kResident);
  EXPECT_EQ(at(3h + 10s, 400ms), Rung::kPages);
}

TEST(RungChoice, WhatCannotBeMetIsPaidForOneHourMore) {
  RungChoice choice;
  EXPECT_EQ(choice.choose(kTerms, offers(2s, 100ms), room(8_GiB), 1h).rung, Rung::kResident);
  EXPECT_EQ(choice.choose(kTerms, offers(9s, 2s), room(8_GiB), 2h).rung, Rung::kResident);
  const RungDecision decision = choice.choose(kTerms, offers(9s, 2s), room(8_GiB), 3h);
  EXPECT_EQ(decision.rung, Rung::kNone);
  EXPECT_EQ(decision.reason, "800 ms cannot be met: resident would take up to 2527 ms");
}

TEST(RungChoice, GivesWayToAServiceThatIsHarmed) {
  RungChoice choice;
  ASSERT_EQ(choice.choose(kTerms, offers(2s, 100ms), room(8_GiB), 1h).rung, Rung::kResident);
  const RungSigns harmed{"frigate is harmed", 8_GiB, 0};
  const RungDecision decision = choice.choose(kTerms, offers(2s, 100ms), harmed, 1h + 10s);
  EXPECT_EQ(decision.rung, Rung::kNone);
  EXPECT_EQ(decision.promise, Promise::kCannot);
  EXPECT_EQ(decision.given_up, (std::vector<GivenUp>{{"weights", "frigate is harmed"}}));
  EXPECT_EQ(decision.reason, "weights given up: frigate is harmed");
  EXPECT_NEAR(milliseconds_of(decision.bound), 2527, 1) << "the cold start is stated";
  EXPECT_EQ(decision.floor_reason(HoldingKind::kWeights), FloorReason::kNone);
  EXPECT_EQ(choice.choose(kTerms, offers(2s, 100ms), room(8_GiB), 1h + 5min).rung, Rung::kNone);
  EXPECT_EQ(choice.choose(kTerms, offers(2s, 100ms), room(8_GiB), 1h + 11min).rung,
            Rung::kResident);
}

TEST(RungChoice, WhatCostsNobodyStaysWhateverHappens) {
  RungChoice choice;
  const RungSigns harmed{"frigate is harmed", 8_GiB, 0};
  const RungDecision decision = choice.choose(kTerms, offers(500ms, 100ms), harmed, 1h);
  EXPECT_EQ(decision.rung, Rung::kPages);
  EXPECT_TRUE(decision.given_up.empty());
}

TEST(RungChoice, TriesAgainLessAndLessOften) {
  RungChoice choice;
  int held = 0;
  for (Duration now = 1h; now < 9h; now += 10s) {
    const bool holds =
        choice.choose(kTerms, offers(2s, 100ms), {{}, 8_GiB, 0}, now).rung == Rung::kResident;
    if (!holds) continue;
    ++held;
    choice.choose(kTerms, offers(2s, 100ms), {{}, 8_GiB, 2.5}, now + 5s);
  }
  EXPECT_GE(held, 3);
  EXPECT_LE(held, 7);
}

TEST(RungChoice, SaysThatPressureRose) {
  RungChoice choice;
  choice.choose(kTerms, offers(2s, 100ms), room(8_GiB), 1h);
  const RungDecision decision =
      choice.choose(kTerms, offers(2s, 100ms), {{}, 8_GiB, 2.5}, 1h + 10s);
  ASSERT_EQ(decision.given_up.size(), 1U);
  EXPECT_EQ(decision.given_up[0].why, "memory pressure rose by 2.5 percent points");
}

TEST(RungChoice, SaysWhoWantedMemory) {
  RungChoice choice;
  choice.choose(kTerms, offers(2s, 100ms), room(8_GiB), 1h);
  choice.gave_way("memory was wanted by qwen-9b", 1h + 5s);
  const RungDecision decision = choice.choose(kTerms, offers(2s, 100ms), room(8_GiB), 1h + 10s);
  EXPECT_EQ(decision.given_up, (std::vector<GivenUp>{{"weights", "memory was wanted by qwen-9b"}}));
}

TEST(RungChoice, DoesNotBelieveARungThatMissed) {
  RungChoice choice;
  ASSERT_EQ(choice.choose(kTerms, offers(400ms, 100ms), room(8_GiB), 1h).rung, Rung::kPages);
  choice.missed(Rung::kPages, 1h);
  EXPECT_EQ(choice.choose(kTerms, offers(400ms, 100ms), room(8_GiB), 1h + 10s).rung,
            Rung::kResident);
  choice.missed(Rung::kResident, 2h);
  EXPECT_EQ(choice.choose(kTerms, offers(400ms, 100ms), room(8_GiB), 2h + 10s).rung,
            Rung::kPinnedPages);
  choice.missed(Rung::kResidentPinned, 3h);
  EXPECT_EQ(choice.choose(kTerms, offers(400ms, 100ms), room(8_GiB), 3h + 10s).rung,
            Rung::kResidentPinned)
      << "there is nothing beyond";
  RungChoice again{choice.notes()};
  EXPECT_EQ(again.choose(kTerms, offers(400ms, 100ms), room(8_GiB), 4h).rung,
            Rung::kResidentPinned);
  EXPECT_EQ(again.choose(kTerms, offers(400ms, 100ms), room(8_GiB), 200h).rung,
            Rung::kResidentPinned);
  EXPECT_EQ(again.choose(kTerms, offers(400ms, 100ms), room(8_GiB), 202h).rung, Rung::kPages);
}

// Whatever the signs: nothing is held that costs somebody while a service is harmed or there is no
// room, a rung that meets the terms is never passed over for a dearer one without a reason, and
// a promise is what the forecast says.
TEST(RungChoice, KeepsItsRulesWhateverComes) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random{seed};
    RungChoice choice;
    Duration now = 1h;
    for (int i = 0; i < 300; ++i) {
      now += std::chrono::seconds{random() % 600};
      std::vector<RungOffer> all = offers(std::chrono::milliseconds{random() % 3000},
                                          std::chrono::milliseconds{random() % 1500});
      std::erase_if(all, [&](const RungOffer&) { return random() % 8 == 0; });
      const RungSigns signs{random() % 10 == 0 ? "x" : "", Bytes{random() % (8_GiB).count()},
                            random() % 10 == 0 ? 2.0 : 0.0};
      const RungDecision decision = choice.choose(kTerms, all, signs, now);
      const auto chosen = std::ranges::find(all, decision.rung, &RungOffer::rung);
      ASSERT_EQ(chosen == all.end(), decision.rung == Rung::kNone);
      ASSERT_LE(decision.holds, signs.room);
      ASSERT_TRUE(signs.harmed.empty() || decision.holds == Bytes{});
      if (decision.rung == Rung::kNone) {
        ASSERT_EQ(decision.promise, Promise::kCannot);
        continue;
      }
      ASSERT_EQ(decision.bound, p95(chosen->forecast));
      ASSERT_EQ(decision.promise == Promise::kMeets, decision.bound <= kTerms.ttft);
    }
  }
}

}  // namespace
}  // namespace hearth::front

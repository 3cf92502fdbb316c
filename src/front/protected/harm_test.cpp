// SPDX-License-Identifier: Apache-2.0
#include "front/protected/harm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using Hearth = HarmJudge::Hearth;

HarmJudge::Limits tenth() { return {1.10, 0.10, 200us}; }

// A judge with a time of its own.
class Judged {
 public:
  explicit Judged(HarmJudge::Limits limits = tenth()) : judge{limits} {}

  Harm latencies(int count, Duration latency, Hearth hearth) {
    for (int i = 0; i < count; ++i) judge.add_latency(now += 500ms, latency, hearth);
    return judge.judge(now);
  }
  Harm waits(const Waits& waits, Hearth hearth) {
    judge.add_waits(waits, 2s, hearth);
    return judge.judge(now += 2s);
  }

  TimePoint now{1h};
  HarmJudge judge;
};

TEST(HarmJudge, SaysNothingBeforeItKnowsWhatIsUsual) {
  Judged service;
  EXPECT_FALSE(service.judge.knows());
  EXPECT_FALSE(service.latencies(50, 900ms, Hearth::kBusy).any());
  EXPECT_FALSE(service.latencies(19, 10ms, Hearth::kIdle).any());
  EXPECT_FALSE(service.judge.usual());
  service.latencies(1, 10ms, Hearth::kIdle);
  EXPECT_EQ(service.judge.usual(), 10ms);
  EXPECT_TRUE(service.judge.knows());
}

TEST(HarmJudge, OneSlowAnswerIsAnAccident) {
  Judged service;
  service.latencies(40, 10ms, Hearth::kIdle);
  service.latencies(10, 10ms, Hearth::kBusy);
  EXPECT_FALSE(service.latencies(2, 500ms, Hearth::kBusy).any());
  EXPECT_TRUE(service.judge.suspects());
  const Harm harm = service.latencies(1, 500ms, Hearth::kBusy);
  EXPECT_TRUE(harm.latency && harm.proved && harm.telling);
}

TEST(HarmJudge, WhatIsSlowWhileHearthDoesNothingIsUsual) {
  Judged service;
  service.latencies(40, 10ms, Hearth::kIdle);
  EXPECT_FALSE(service.latencies(40, 90ms, Hearth::kIdle).any());
  EXPECT_FALSE(service.latencies(40, 90ms, Hearth::kBusy).any());
}

TEST(HarmJudge, TinyDifferencesMeanNothing) {
  Judged service;
  service.latencies(40, 100us, Hearth::kIdle);
  EXPECT_FALSE(service.latencies(40, 250us, Hearth::kBusy).any());
  EXPECT_TRUE(service.latencies(40, 350us, Hearth::kBusy).any());
}

TEST(HarmJudge, IsWellOnlyClearlyBelowTheLimit) {
  Judged service;
  service.latencies(40, 100ms, Hearth::kIdle);
  EXPECT_TRUE(service.latencies(5, 120ms, Hearth::kBusy).any());
  service.judge.begin_anew();
  const Harm stale = service.judge.judge(service.now);
  EXPECT_TRUE(stale.any());
  EXPECT_FALSE(stale.proved);
  EXPECT_TRUE(service.latencies(30, 107ms, Hearth::kBusy).any());
  EXPECT_EQ(service.judge.slowest(), 120ms);
  EXPECT_EQ(service.judge.current(), 107ms);
  service.judge.begin_anew();
  EXPECT_FALSE(service.latencies(30, 104ms, Hearth::kBusy).any());
}

TEST(HarmJudge, IsWellOnceHearthHasLongDoneNothing) {
  Judged service;
  service.latencies(40, 100ms, Hearth::kIdle);
  EXPECT_TRUE(service.latencies(5, 120ms, Hearth::kBusy).any());
  EXPECT_TRUE(service.judge.judge(service.now + 10s).any());
  const Harm later = service.judge.judge(service.now + 40s);
  EXPECT_FALSE(later.any());
  EXPECT_FALSE(later.telling);
}

struct WaitCase {
  const char* name;
  Waits waits;
  Hearth hearth;
  bool cpu, memory, io;
};
class HarmByWaits : public testing::TestWithParam<WaitCase> {};
TEST_P(HarmByWaits, IsTold) {
  const WaitCase& c = GetParam();
  Judged service;
  const Harm harm = service.waits(c.waits, c.hearth);
  EXPECT_EQ(harm.cpu, c.cpu);
  EXPECT_EQ(harm.memory, c.memory);
  EXPECT_EQ(harm.io, c.io);
  EXPECT_EQ(harm.proved, c.cpu || c.memory || c.io);
}
INSTANTIATE_TEST_SUITE_P(
    Cases, HarmByWaits,
    testing::Values(WaitCase{"None", {}, Hearth::kBusy, false, false, false},
                    WaitCase{"AtTheLimit", {0.1, 0.1, 0.1}, Hearth::kBusy, false, false, false},
                    WaitCase{"Cpu", {0.3, 0.0, 0.0}, Hearth::kBusy, true, false, false},
                    WaitCase{"CpuNotOurs", {0.3, 0.0, 0.0}, Hearth::kIdle, false, false, false},
                    WaitCase{"DiskAlone", {{}, {}, 0.3}, Hearth::kBusy, false, false, true},
                    WaitCase{"DiskNotOurs", {{}, {}, 0.3}, Hearth::kIdle, false, false, false},
                    WaitCase{"MemoryIsHeld", {{}, 0.2, {}}, Hearth::kIdle, false, true, false}),
    [](const auto& test) { return test.param.name; });

TEST(HarmJudge, WaitsHaveToLast) {
  Judged service;
  for (int i = 0; i < 3; ++i) {
    service.judge.add_waits({0.5, {}, {}}, 1s, Hearth::kBusy);
    EXPECT_FALSE(service.judge.judge(service.now).any());
    service.judge.add_waits({0.0, {}, {}}, 1s, Hearth::kBusy);
  }
  service.judge.add_waits({0.5, {}, {}}, 1s, Hearth::kBusy);
  service.judge.add_waits({0.5, {}, {}}, 1s, Hearth::kBusy);
  EXPECT_TRUE(service.judge.judge(service.now).cpu);
  EXPECT_TRUE(service.waits({0.07, {}, {}}, Hearth::kBusy).cpu);   // not clearly below
  EXPECT_FALSE(service.waits({0.05, {}, {}}, Hearth::kBusy).cpu);  // now it is
}

TEST(HarmJudge, WhoeverLeavesIsNotHarmed) {
  Judged service;
  service.latencies(40, 10ms, Hearth::kIdle);
  service.latencies(40, 90ms, Hearth::kBusy);
  service.waits({0.5, 0.5, 0.5}, Hearth::kBusy);
  service.judge.leave();
  EXPECT_FALSE(service.judge.judge(service.now).any());
  EXPECT_EQ(service.judge.usual(), 10ms);  // it may come back
}

// Answers with a long tail, as real ones have.
class RandomAnswers : public testing::TestWithParam<unsigned> {
 protected:
  Duration answer(double stretched) {
    const double ms = 5.0 * std::exp(0.4 * normal_(random_)) * stretched;
    return Duration{static_cast<Duration::rep>(ms * 1e6)};
  }
  // Part of the time in which it is told as harmed.
  double harmed(Judged& service, double stretched) {
    int told = 0;
    for (int i = 0; i < 1000; ++i) {
      service.judge.add_latency(service.now += 500ms, answer(stretched), Hearth::kBusy);
      told += service.judge.judge(service.now).latency ? 1 : 0;
    }
    return told / 1000.0;
  }
  std::mt19937 random_{GetParam()};
  std::normal_distribution<> normal_;
};

TEST_P(RandomAnswers, AreToldFromSlowOnes) {
  Judged service;
  for (int i = 0; i < 500; ++i) {
    service.judge.add_latency(service.now += 500ms, answer(1.0), Hearth::kIdle);
  }
  EXPECT_LT(harmed(service, 1.0), 0.2);  // its first step alone, for a while
  EXPECT_GT(harmed(service, 2.0), 0.9);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomAnswers, testing::Range(1u, 21u));

}  // namespace
}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "worker/thread_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace hearth::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A machine whose scheduler is fair: neighbours that would like `demand` CPUs and our threads share
// them by weight. Counts in ticks, as /proc/stat does.
class SimMachine {
 public:
  SimMachine(int cores, int most, int nice)
      : cores_{cores}, weight_{std::pow(1.25, -nice)}, policy_{{cores, most, nice}} {
    observe();
  }

  double demand = 0;       // of neighbours, in CPUs
  double low_demand = 0;   // of neighbours of low priority, which give way
  bool evaluating = true;  // else our threads sleep
  double noise = 0;        // CPUs, either way, in what /proc/stat says of a step
  bool has_schedstat = true;
  StepKind kind = StepKind::kTokens;

  void quota(double cpus) { reading_.quota = CpuReading::Quota{cpus, {}}; }
  int count() const { return policy_.count(kind); }
  TimePoint now() const { return reading_.at; }
  int changes() const { return changes_; }

  void begin_alone() {
    policy_.begin_alone();
    running_ = count();
    observe();
  }

  // Steps of `step` length, with a look before each.
  void run(Duration length, Duration step = milliseconds{50}) {
    for (const TimePoint end = now() + length; now() < end;) {
      advance(step);
      observe();
      const int before = running_;
      policy_.decide(running_);
      running_ = count();
      if (running_ != before) ++changes_;
    }
  }

  // How long until there are `count` threads; at most ten seconds.
  Duration until(int count, Duration step = milliseconds{50}) {
    const TimePoint start = now();
    while (policy_.count(kind) != count && now() - start < seconds{10}) run(step, step);
    return now() - start;
  }

 private:
  void advance(Duration step) {
    const double ready = evaluating ? running_ : 0;
    const double share =
        ready == 0 ? 1.0 : std::min(1.0, cores_ * weight_ / (ready * weight_ + demand));
    const double ran = ready * share;
    const double neighbours = std::min(demand, cores_ - ran);
    const double low = std::min(low_demand, std::max(0.0, cores_ - ran - neighbours));
    spend(reading_.own, ran, step);
    if (has_schedstat) {
      CpuReading::Threads& threads =
          reading_.threads ? *reading_.threads : reading_.threads.emplace();
      spend(threads.ran, ran, step);
      spend(threads.waited, ready - ran, step);
    }
    if (reading_.quota) spend(reading_.quota->used, ran, step);
    spend(exact_busy_, ran + neighbours + low, step);
    spend(exact_niced_, low, step);
    std::uniform_real_distribution<double> off{-noise, noise};
    reading_.busy = ticks(exact_busy_);
    spend(reading_.busy, off(random_), step);
    reading_.niced = ticks(exact_niced_);
    reading_.at += step;
  }
  void observe() { policy_.add(reading_); }
  static void spend(Duration& sum, double cpus, Duration step) {
    sum += Duration{static_cast<std::int64_t>(cpus * static_cast<double>(step.count()))};
  }
  static Duration ticks(Duration exact) { return exact / milliseconds{10} * milliseconds{10}; }

  int cores_;
  double weight_;
  ThreadPolicy policy_;
  CpuReading reading_{TimePoint{seconds{100}}, {}, {}, {}, {}, {}};
  Duration exact_busy_{}, exact_niced_{};
  std::mt19937 random_{7};  // NOLINT(cert-msc51-cpp): the same in every run
  int running_ = policy_.count(StepKind::kTokens);
  int changes_ = 0;
};

struct SettledCase {
  const char* name;
  int cores, most, nice;
  double demand, low;
  StepKind kind;
  int count;
};
class Settled : public testing::TestWithParam<SettledCase> {
 protected:
  static SimMachine machine() {
    const SettledCase& c = GetParam();
    SimMachine machine{c.cores, c.most, c.nice};
    machine.kind = c.kind;
    return machine;
  }
  static void add_neighbours(SimMachine& machine) {
    machine.demand = GetParam().demand;
    machine.low_demand = GetParam().low;
  }
};
TEST_P(Settled, WhenNeighboursComeWhileItEvaluates) {
  SimMachine machine = this->machine();
  machine.run(seconds{2});
  EXPECT_EQ(machine.count(), GetParam().most);
  add_neighbours(machine);
  machine.run(seconds{5});
  EXPECT_EQ(machine.count(), GetParam().count);
  const int changes = machine.changes();
  machine.run(seconds{60});
  EXPECT_EQ(machine.changes(), changes) << "it changes its mind";
}
TEST_P(Settled, WhenNeighboursAreThereFirst) {
  SimMachine machine = this->machine();
  add_neighbours(machine);
  machine.evaluating = false;
  machine.run(seconds{1}, milliseconds{500});
  machine.evaluating = true;
  machine.run(seconds{5});
  EXPECT_EQ(machine.count(), GetParam().count);
}
constexpr StepKind kTokens = StepKind::kTokens;
constexpr StepKind kPrompt = StepKind::kPrompt;
INSTANTIATE_TEST_SUITE_P(
    Neighbours, Settled,
    testing::Values(SettledCase{"Nobody", 2, 2, 0, 0, 0, kTokens, 2},
                    SettledCase{"ALittle", 2, 2, 0, 0.1, 0, kTokens, 2},
                    SettledCase{"One", 2, 2, 0, 1, 0, kTokens, 1},
                    SettledCase{"OnePrompt", 2, 2, 0, 1, 0, kPrompt, 1},
                    SettledCase{"OnePerCore", 2, 2, 0, 2, 0, kTokens, 1},
                    SettledCase{"OnePerCorePrompt", 2, 2, 0, 2, 0, kPrompt, 1},
                    SettledCase{"Many", 2, 2, 0, 6, 0, kTokens, 1},
                    SettledCase{"LowPriority", 2, 2, 0, 0, 2, kTokens, 2},
                    // Neighbours that wait for one CPU together cannot be told from one.
                    SettledCase{"OneRaised", 2, 2, -5, 1, 0, kTokens, 2},
                    SettledCase{"TwoRaised", 2, 2, -5, 2, 0, kTokens, 2},
                    SettledCase{"TwoRaisedPrompt", 2, 2, -5, 2, 0, kPrompt, 2},
                    SettledCase{"TwoRaisedHigh", 2, 2, -10, 2, 0, kTokens, 2},
                    SettledCase{"OneLowered", 2, 2, 10, 1, 0, kTokens, 1},
                    SettledCase{"OneOfFour", 4, 4, 0, 1, 0, kTokens, 3},
                    SettledCase{"ThreeOfEight", 8, 8, 0, 3, 0, kTokens, 5},
                    SettledCase{"FewThreads", 8, 2, 0, 5, 0, kTokens, 2},
                    SettledCase{"FourOfSixteen", 16, 16, 0, 4, 0, kTokens, 12}),
    [](const auto& test) { return test.param.name; });

TEST(ThreadPolicy, GivesWayWithinAFewStepsAndComesBackWithinTwoSeconds) {
  for (const double neighbours : {1.0, 2.0, 5.0}) {
    for (const milliseconds step : {milliseconds{50}, milliseconds{120}, milliseconds{400}}) {
      SimMachine machine{2, 2, 0};
      machine.run(seconds{3}, step);
      machine.demand = neighbours;
      EXPECT_LE(machine.until(1, step), std::max(milliseconds{200}, 2 * step)) << neighbours;
      machine.run(seconds{5}, step);
      machine.demand = 0;
      EXPECT_LE(machine.until(2, step), milliseconds{1200}) << neighbours;
    }
  }
}

TEST(ThreadPolicy, BeginsAtFullWidthWhenNobodyIsThereAnyMore) {
  SimMachine machine{2, 2, 0};
  machine.demand = 2;
  machine.run(seconds{3});
  ASSERT_EQ(machine.count(), 1);
  machine.demand = 0;
  machine.begin_alone();
  EXPECT_EQ(machine.count(), 2);
  machine.run(seconds{1});
  EXPECT_EQ(machine.count(), 2);
  machine.begin_alone();  // and somebody comes all the same
  machine.demand = 2;
  EXPECT_LE(machine.until(1), milliseconds{300});
}

TEST(ThreadPolicy, WithoutSchedstatItLooksAtTheOthersOnly) {
  SimMachine machine{4, 4, 0};
  machine.has_schedstat = false;
  machine.run(seconds{1});
  machine.demand = 3;
  machine.run(seconds{3});
  EXPECT_LE(machine.count(), 2);
  machine.demand = 0;
  EXPECT_LE(machine.until(4), seconds{2});
}

TEST(ThreadPolicy, StaysUnderAQuota) {
  SimMachine machine{8, 8, 0};
  machine.quota(2.0);
  machine.run(seconds{2});
  EXPECT_EQ(machine.count(), 2);
  machine.quota(0.5);
  machine.run(seconds{2});
  EXPECT_EQ(machine.count(), 1);
}

TEST(ThreadPolicy, TwoThatShareAMachineDoNotChangePlaces) {
  // The other one takes what we leave, up to all cores, and makes room as we do.
  SimMachine machine{16, 16, 0};
  machine.run(seconds{1});
  machine.demand = 16;
  machine.run(milliseconds{150});
  const int met = machine.count();
  EXPECT_GE(met, 6);
  machine.demand = 16 - met;
  machine.run(seconds{10});
  EXPECT_EQ(machine.count(), met);
}

TEST(ThreadPolicy, ANeighbourThatComesAndGoesCostsFewChanges) {
  // Half a second each, for a minute: every return would be in vain.
  SimMachine machine{2, 2, 0};
  for (int i = 0; i < 60; ++i) {
    machine.demand = i % 2 == 0 ? 2 : 0;
    machine.run(milliseconds{500});
  }
  EXPECT_LE(machine.changes(), 32);
}

class RandomNeighbours : public testing::TestWithParam<unsigned> {};
TEST_P(RandomNeighbours, LeaveItNearTheBestCount) {
  std::mt19937 random{GetParam()};
  const auto pick = [&](int from, int to) {
    return std::uniform_int_distribution<int>{from, to}(random);
  };
  const int cores = pick(1, 6) * 2;
  SimMachine machine{cores, cores, 0};
  machine.noise = 0.05;
  for (int i = 0; i < 40; ++i) {
    machine.demand = std::max(0, pick(-cores, cores + 2));
    machine.evaluating = pick(0, 3) > 0;
    machine.run(milliseconds{pick(2500, 6000)}, milliseconds{pick(10, 300)});
    const int free = std::max(1, cores - static_cast<int>(machine.demand));
    SCOPED_TRACE(testing::Message() << "round " << i << ", " << machine.demand << " of " << cores);
    EXPECT_GE(machine.count(), machine.demand == 0 ? cores : std::min(free, cores) - 1);
    EXPECT_LE(machine.count(), std::max(free, 4));
  }
  EXPECT_LE(machine.changes(), 40 * 6);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomNeighbours, testing::Range(1u, 13u));

}  // namespace
}  // namespace hearth::worker

// SPDX-License-Identifier: Apache-2.0
#include "policy/prewarm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hearth {
namespace {

using namespace hearth::literals;
using namespace std::chrono_literals;

constexpr double kRate = 1 << 30;  // a GiB a second

PrewarmCandidate candidate(std::string model, Bytes size, Bytes resident, double probability) {
  const auto ns = static_cast<std::int64_t>(size.count()) * 1'000'000'000 / (1 << 30);
  return {std::move(model), size, resident, {}, probability, Duration{ns}, false};
}

PrewarmRules rules() {
  PrewarmRules rules;
  rules.earned_share = 1;
  rules.step = 1_GiB;
  rules.bytes_a_day = 20_GiB;
  return rules;
}

// One that has earned its day.
Prewarmer ready() {
  Prewarmer prewarmer{rules()};
  prewarmer.note_demand(100_GiB);
  return prewarmer;
}

TEST(Prewarm, FillsWhatIsFreeWithTheLikeliest) {
  Prewarmer prewarmer = ready();
  const std::vector<PrewarmCandidate> models{candidate("a", 4_GiB, {}, 0.4),
                                             candidate("b", 4_GiB, 3_GiB + 512_MiB, 0.9)};
  auto step = prewarmer.next(models, 8_GiB, kRate, 0s);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->model, "b");
  EXPECT_EQ(step->bytes, 512_MiB);
  EXPECT_TRUE(step->releases.empty());
}

TEST(Prewarm, ReadsNothingThatIsUnlikelyToBeAskedFor) {
  Prewarmer prewarmer = ready();
  const std::vector<PrewarmCandidate> models{candidate("a", 4_GiB, {}, 0.15)};
  EXPECT_FALSE(prewarmer.next(models, 8_GiB, kRate, 0s));
  EXPECT_FALSE(prewarmer.next({}, 8_GiB, kRate, 0s));
  EXPECT_FALSE(prewarmer.next(models, 8_GiB, 0, 0s));
}

TEST(Prewarm, TakesFromTheLeastLikelyWhereThatPays) {
  Prewarmer prewarmer = ready();
  std::vector<PrewarmCandidate> models{
      candidate("wanted", 4_GiB, {}, 0.8), candidate("near", 4_GiB, 4_GiB, 0.7),
      candidate("far", 4_GiB, 300_MiB, 0.01), candidate("middle", 4_GiB, 4_GiB, 0.3)};
  models[3].floor = 3_GiB + 824_MiB;
  const auto step = prewarmer.next(models, 100_MiB, kRate, 0s);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->model, "wanted");
  EXPECT_EQ(step->bytes, 600_MiB);
  ASSERT_EQ(step->releases.size(), 2U);
  EXPECT_EQ(step->releases[0].model, "far");
  EXPECT_EQ(step->releases[0].bytes, 300_MiB);
  EXPECT_EQ(step->releases[1].model, "middle");
  EXPECT_EQ(step->releases[1].bytes, 200_MiB);
}

TEST(Prewarm, LeavesTheBusyAlone) {
  Prewarmer prewarmer = ready();
  std::vector<PrewarmCandidate> models{candidate("wanted", 4_GiB, {}, 0.8),
                                       candidate("busy", 4_GiB, 4_GiB, 0)};
  models[1].busy = true;
  EXPECT_FALSE(prewarmer.next(models, {}, kRate, 0s));
  models[0].busy = true;
  EXPECT_FALSE(prewarmer.next(models, 4_GiB, kRate, 0s));
}

TEST(Prewarm, KeepsToTheDaysBytes) {
  Prewarmer prewarmer = ready();
  const std::vector<PrewarmCandidate> models{candidate("a", 8_GiB, {}, 1)};
  Bytes read{};
  Duration now{};
  while (const auto step = prewarmer.next(models, 8_GiB, kRate, now)) {
    prewarmer.note_read(step->model, step->bytes, now);
    read += step->bytes;
  }
  EXPECT_EQ(read, 20_GiB);
  prewarmer.note_demand(100_GiB);
  now += 12h;
  EXPECT_NEAR(static_cast<double>(prewarmer.allowance(now).count()), 10.0 * (1 << 30), 1000);
  now += 96h;
  EXPECT_EQ(prewarmer.allowance(now), 20_GiB);
}

TEST(Prewarm, EarnsItsBytesByWhatOthersWaitedForAndByWhatIsUsed) {
  PrewarmRules half = rules();
  half.earned_share = 0.5;
  half.least_step = {};
  Prewarmer prewarmer{half};
  const std::vector<PrewarmCandidate> models{candidate("m", 8_GiB, {}, 1)};
  EXPECT_FALSE(prewarmer.next(models, 8_GiB, kRate, 0s));
  prewarmer.note_demand(1_GiB);
  EXPECT_EQ(prewarmer.next(models, 8_GiB, kRate, 0s)->bytes, 512_MiB);
  prewarmer.note_read("m", 512_MiB, 1s);
  EXPECT_EQ(prewarmer.allowance(1s), Bytes{});
  prewarmer.note_used("m", 0, 2s);
  prewarmer.note_used("m", 0, 3s);
  EXPECT_EQ(prewarmer.allowance(3s), 256_MiB);
}

TEST(Prewarm, TakesNoTinySteps) {
  Prewarmer prewarmer = ready();
  std::vector<PrewarmCandidate> models{candidate("m", 8_GiB, {}, 1)};
  EXPECT_FALSE(prewarmer.next(models, 15_MiB, kRate, 0s));
  EXPECT_TRUE(prewarmer.next(models, 16_MiB, kRate, 0s));
  models[0].resident = 8_GiB - 1_MiB;
  EXPECT_EQ(prewarmer.next(models, 15_MiB, kRate, 0s)->bytes, 1_MiB);
}

TEST(Prewarm, AccountsForWhatWasReadUsedAndWasted) {
  Prewarmer prewarmer = ready();
  (void)prewarmer.next({}, {}, kRate, 0s);
  prewarmer.note_read("m", 3_GiB, 1h);
  prewarmer.note_resident("m", 2_GiB, 4_GiB, 2h);  // one was given up
  prewarmer.note_used("m", 2.0 / (1 << 30), 3h);
  prewarmer.note_used("m", 2.0 / (1 << 30), 4h);  // nothing new to use
  const PrewarmAccount account = prewarmer.ledger().account("m");
  EXPECT_EQ(account.read, 3_GiB);
  EXPECT_EQ(account.used, 2_GiB);
  EXPECT_EQ(account.wasted, 1_GiB);
  EXPECT_NEAR(account.saved_s, 4, 1e-6);
  EXPECT_NEAR(account.gib_hours, 5, 1e-6);
  EXPECT_EQ(prewarmer.ledger().account("other").read, Bytes{});
  EXPECT_EQ(prewarmer.ledger().models(), std::vector<std::string>{"m"});
}

TEST(Prewarm, RestsWhereItDoesNotPayAndLongerEachTime) {
  Prewarmer prewarmer = ready();
  const std::vector<PrewarmCandidate> models{candidate("m", 2_GiB, {}, 0.9)};
  Duration now{};
  std::vector<Duration> rests;
  for (int round = 0; round < 60 && rests.size() < 3; ++round, now += 1h) {
    prewarmer.note_read("m", 2_GiB, now);
    prewarmer.note_resident("m", {}, 2_GiB, now);
    if (!prewarmer.ledger().rests("m", now)) continue;
    EXPECT_FALSE(prewarmer.next(models, 4_GiB, kRate, now));
    const Duration from = now;
    while (prewarmer.ledger().rests("m", now)) now += 1h;
    rests.push_back(now - from);
  }
  EXPECT_EQ(rests, (std::vector<Duration>{24h, 48h, 96h}));
  EXPECT_EQ(prewarmer.ledger().account("m").pauses, 3);
}

TEST(Prewarm, GoesOnWhereItPays) {
  Prewarmer prewarmer = ready();
  Duration now{};
  for (int round = 0; round < 60; ++round, now += 1h) {
    prewarmer.note_read("m", 2_GiB, now);
    if (round % 2 == 0) prewarmer.note_used("m", 1e-9, now);
    prewarmer.note_resident("m", {}, 2_GiB, now);
    EXPECT_FALSE(prewarmer.ledger().rests("m", now));
  }
}

// Whatever the candidates are, steps keep to the rules and bytes add up.
TEST(Prewarm, StepsKeepToTheRules) {
  std::mt19937 random{7};
  const auto bytes = [&random](std::uint64_t most) { return Bytes{random() % (most + 1)}; };
  for (int round = 0; round < 3000; ++round) {
    Prewarmer prewarmer = ready();
    std::vector<PrewarmCandidate> models;
    for (int i = 0; i < 6; ++i) {
      const Bytes size = Bytes{1} + bytes(8'000'000'000);
      auto one = candidate(std::string(1, static_cast<char>('a' + i)), size, bytes(size.count()),
                           static_cast<double>(random() % 100) / 100);
      one.floor = random() % 4 == 0 ? bytes(one.resident.count()) : Bytes{};
      one.busy = random() % 5 == 0;
      models.push_back(one);
    }
    const Bytes free = random() % 2 == 0 ? Bytes{} : bytes(2'000'000'000);
    const auto step = prewarmer.next(models, free, kRate, 0s);
    if (!step) continue;
    Bytes released{};
    const auto of = [&models](const std::string& name) {
      return *std::ranges::find(models, name, &PrewarmCandidate::model);
    };
    for (const auto& release : step->releases) {
      const PrewarmCandidate other = of(release.model);
      EXPECT_FALSE(other.busy);
      EXPECT_LE(release.bytes + other.floor, other.resident);
      EXPECT_LT(other.probability, of(step->model).probability);
      released += release.bytes;
    }
    EXPECT_FALSE(of(step->model).busy);
    EXPECT_LE(step->bytes, 1_GiB);
    EXPECT_LE(step->bytes + of(step->model).resident, of(step->model).size);
    EXPECT_LE(released, step->bytes);
    EXPECT_LE(step->bytes, free + released);
  }
}

}  // namespace
}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "policy/household/replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policy/household/generator.h"
#include "policy/household/league.h"
#include "policy/household/levels.h"
#include "policy/household/optimum.h"
#include "policy/household/peers.h"

namespace hearth::household {
namespace {

using namespace std::chrono_literals;

Trace trace_of(const std::string& lines) {
  auto trace = parse_trace("seconds,model,size_gb,service_s\n" + lines);
  EXPECT_TRUE(trace) << trace.error().message();
  return std::move(*trace);
}

Score play(std::string_view name, const Trace& trace, const Machine& machine = {}) {
  if (name == "hearth" || name == "hearth-unpredicted") {
    Levels levels{trace, name == "hearth" ? Levels::Prediction::kOn : Levels::Prediction::kOff};
    return replay(trace, machine, levels);
  }
  const auto peer = make_peer(name, trace, machine);
  EXPECT_NE(peer, nullptr) << name;
  return replay(trace, machine, *peer);
}

Machine with_memory(std::uint64_t gb) {
  Machine machine;
  machine.memory = Bytes{gb * 1'000'000'000};
  return machine;
}

TEST(Replay, AStartCostsItsBytesAndTheSetUp) {
  const Score score = play("lru", trace_of("10,a,4,5\n60,a,4,5\n"));
  EXPECT_EQ(score.cold_starts, 1);
  EXPECT_NEAR(score.cold_seconds, 9, 1e-6);
  EXPECT_NEAR(score.demand_gb, 4, 1e-9);
  EXPECT_NEAR(score.p99_wait_s, 9, 1e-6);
  EXPECT_NEAR(score.held_gb_hours, 4 * 55.0 / 3600, 1e-6);
  EXPECT_EQ(score.kept_gb_hours, score.held_gb_hours);
}

TEST(Replay, AHollowWorkerSparesTheSetUpAndIsCounted) {
  const Score score = play("hearth-unpredicted", trace_of("10,a,4,5\n3600,a,4,5\n"));
  EXPECT_NEAR(score.cold_seconds, 8, 1e-6);
  EXPECT_NEAR(score.held_gb_hours, (4 * 3595 + 0.05 * 3605) / 3600, 1e-6);
  // Loading and serving 13 s, then 5 s.
  EXPECT_NEAR(score.kept_gb_hours, (4 * 18 + 0.05 * 3605) / 3600, 1e-6);
}

TEST(Replay, WhoComesWhileItLoadsWaitsForTheRest) {
  const Score score = play("lru", trace_of("10,a,4,5\n12,a,4,5\n"));
  EXPECT_EQ(score.cold_starts, 1);
  EXPECT_NEAR(score.cold_seconds, 9, 1e-6);
}

TEST(Replay, LoadsShareTheDeviceOneAfterAnother) {
  const Score score = play("lru", trace_of("10,a,4,5\n10,b,1,5\n"));
  EXPECT_NEAR(score.cold_seconds, 9 + 3, 1e-6);
  EXPECT_NEAR(score.p99_wait_s, 8 + 3, 1e-6);  // b waits for a's reading
}

TEST(Replay, NobodyIsGivenUpWhileServing) {
  const Score score = play("lru", trace_of("0,a,4,30\n10,b,4,5\n"), with_memory(6));
  EXPECT_EQ(score.cold_starts, 2);
  EXPECT_NEAR(score.p99_wait_s, 29 + 9, 1e-6);  // a ends at 39
}

TEST(Replay, WhatCannotFitIsRefusedAndTheOthersServed) {
  const Score score = play("hearth", trace_of("0,a,14,1\n10,b,4,1\n20,a,14,1\n"));
  EXPECT_EQ(score.refused, 2);
  EXPECT_EQ(score.cold_starts, 1);
}

TEST(Replay, ATimerUnloads) {
  const Trace trace = trace_of("0,a,4,1\n200,a,4,1\n501.1,a,4,1\n");
  EXPECT_EQ(play("ollama", trace).cold_starts, 2);
  EXPECT_EQ(play("ttl20", trace).cold_starts, 1);
}

TEST(Replay, TheRouterKeepsFourAndSwappingOne) {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    lines += std::to_string(60 * i) + "," + static_cast<char>('a' + i % 5) + ",1,1\n";
  }
  EXPECT_EQ(play("llama-server", trace_of(lines)).cold_starts, 20);
  EXPECT_EQ(play("lru", trace_of(lines)).cold_starts, 5);
  EXPECT_EQ(play("llama-swap", trace_of("0,a,1,1\n60,b,1,1\n120,a,1,1\n")).cold_starts, 3);
  EXPECT_EQ(play("llama-swap-sets", trace_of("0,a,1,1\n60,b,8,1\n120,a,1,1\n")).cold_starts, 2);
}

TEST(Replay, PartOfAModelIsGivenUpAndOnlyThatIsReadAgain) {
  // 10 GB, 0.1 of them for hollow workers: b takes 3.1 from a.
  const Trace trace = trace_of("0,a,8,1\n600,b,5,1\n1200,a,8,1\n");
  const Score score = play("hearth-unpredicted", trace, with_memory(10));
  EXPECT_NEAR(score.demand_gb, 8 + 5 + 3.1, 1e-6);
  EXPECT_NEAR(score.cold_seconds, 2 * 16.1, 1e-6);
}

// Every morning at nine and every night at ten, and they do not fit together: a week teaches that.
TEST(Replay, PredictionReadsAheadOnceItHasLearnt) {
  std::string lines;
  for (int day = 0; day < 21; ++day) {
    lines += std::to_string(day * 86400 + 9 * 3600) + ",morning,8,60\n";
    lines += std::to_string(day * 86400 + 22 * 3600) + ",night,8,60\n";
  }
  const Trace trace = trace_of(lines);
  const Score without = play("hearth-unpredicted", trace, with_memory(10));
  const Score with = play("hearth", trace, with_memory(10));
  EXPECT_NEAR(without.prewarm_gb, 0, 1e-9);
  EXPECT_LT(with.cold_seconds, 0.4 * without.cold_seconds);
  EXPECT_LT(with.prewarm_gb, without.demand_gb);
}

// Writes down what Hearth's rules do up to some time.
class Recorder : public Strategy {
 public:
  Recorder(const Trace& trace, Duration until)
      : levels_{trace, Levels::Prediction::kOn}, until_{until} {}
  std::string_view name() const override { return levels_.name(); }
  Waiting waiting() const override { return levels_.waiting(); }
  void arrived(const House& house, std::size_t model) override { levels_.arrived(house, model); }
  std::optional<Duration> wake(const House& house) const override { return levels_.wake(house); }
  std::optional<std::vector<Release>> make_room(const House& house, std::size_t model) override {
    auto releases = levels_.make_room(house, model);
    note(house, "load", model, house.missing(model));
    if (releases) note(house, *releases);
    return releases;
  }
  Action act(const House& house) override {
    Action action = levels_.act(house);
    note(house, action.releases);
    return action;
  }
  void has_read(const House& house, std::size_t model, Bytes bytes) override {
    note(house, "read", model, bytes);
    levels_.has_read(house, model, bytes);
  }
  std::string notes;

 private:
  void note(const House& house, const char* what, std::size_t model, Bytes bytes) {
    if (house.now >= until_) return;
    notes += fmt::format("{} {} {} {}\n", house.now.count(), what, model, bytes.count());
  }
  void note(const House& house, const std::vector<Release>& releases) {
    for (const Release& one : releases) note(house, "release", one.model, one.bytes);
  }
  Levels levels_;
  Duration until_;
};

TEST(Replay, PredictionKnowsNothingOfWhatIsToCome) {
  const Trace trace = generate(4);
  const Duration middle = std::chrono::hours{24 * 10 + 19};
  Trace other = trace;  // the same up to then
  std::erase_if(other.requests, [middle](const TraceRequest& one) { return one.at >= middle; });
  for (const TraceRequest& request : generate(5).requests) {
    if (request.at >= middle) other.requests.push_back(request);
  }
  Recorder recorder{trace, middle}, of_other{other, middle};
  EXPECT_NE(replay(trace, {}, recorder).cold_seconds, replay(other, {}, of_other).cold_seconds);
  EXPECT_GT(recorder.notes.size(), 5000U);
  EXPECT_EQ(recorder.notes, of_other.notes);
}

class Households : public testing::TestWithParam<std::uint64_t> {};

// The optimum is one, and rules differ as they should, in whatever household.
TEST_P(Households, Rank) {
  const Trace trace = generate(GetParam(), 7);
  for (const std::uint64_t gb : {10, 12, 16}) {
    const Machine machine = with_memory(gb);
    const auto best = optimum(trace, machine);
    ASSERT_TRUE(best);
    for (const std::string_view name : peer_names()) {
      EXPECT_GE(play(name, trace, machine).cold_seconds, best->cold_seconds - 1e-6) << name;
    }
    const Score ours = play("hearth", trace, machine);
    const Score off = play("hearth-unpredicted", trace, machine);
    EXPECT_LT(off.cold_seconds, play("lru", trace, machine).cold_seconds);
    EXPECT_LT(ours.cold_seconds, off.cold_seconds);
    EXPECT_EQ(ours.refused, 0);
    EXPECT_EQ(off.prewarm_gb, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Households, testing::Values(11, 12, 13, 14));

TEST(Optimum, IsExactWhereItCanBeSeen) {
  // Two of three fit. Greedily giving up the farthest costs one start more for each of the small.
  const Trace trace = trace_of("0,a,4,1\n60,b,4,1\n120,c,4,1\n180,a,4,1\n240,b,4,1\n300,c,4,1\n");
  const auto best = optimum(trace, with_memory(8));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->cold_starts, 4);
  EXPECT_NEAR(best->cold_seconds, 36, 1e-6);
  EXPECT_FALSE(optimum(trace, with_memory(3)));
}

TEST(League, PlaysAll) {
  const std::vector<Score> scores = play_all(generate(1, 2), {});
  ASSERT_EQ(scores.size(), peer_names().size() + 3);
  EXPECT_EQ(scores.front().strategy, "ollama");
  EXPECT_EQ(scores.back().strategy, "hearth");
}

TEST(Peers, AnUnknownNameIsNone) { EXPECT_EQ(make_peer("none", generate(1, 1), {}), nullptr); }

}  // namespace
}  // namespace hearth::household

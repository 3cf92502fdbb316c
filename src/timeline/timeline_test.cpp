// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace hearth {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kFirstByte{std::chrono::hours{1}};

TimePoint at(int ms) { return kFirstByte + milliseconds{ms}; }
Stage stage(StageKind kind, int from, int to) {
  return {.kind = kind, .start = at(from), .end = at(to), .bytes = {}};
}

struct UnionCase {
  const char* name;
  std::vector<Stage> stages;
  int covered, overlap, other;  // of a request of 100 ms
};

class Unions : public testing::TestWithParam<UnionCase> {};

TEST_P(Unions, AddUp) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add(GetParam().stages);
  timeline.finish(at(100));
  const Timings timings = timeline.timings();
  EXPECT_EQ(timings.total, milliseconds{100});
  EXPECT_EQ(timings.covered, milliseconds{GetParam().covered});
  EXPECT_EQ(timings.overlap, milliseconds{GetParam().overlap});
  EXPECT_EQ(timings.other, milliseconds{GetParam().other});
}

using enum StageKind;
INSTANTIATE_TEST_SUITE_P(
    Timeline, Unions,
    testing::Values(
        UnionCase{"Empty", {}, 0, 0, 100},
        UnionCase{"OneWhole", {stage(kPrefill, 0, 100)}, 100, 0, 0},
        UnionCase{"Touching", {stage(kLoad, 10, 40), stage(kPrefill, 40, 90)}, 80, 0, 20},
        UnionCase{"Gap", {stage(kLoad, 10, 40), stage(kPrefill, 60, 90)}, 60, 0, 40},
        UnionCase{"Crossing", {stage(kRead, 10, 60), stage(kLoad, 40, 90)}, 80, 20, 20},
        UnionCase{"Nested", {stage(kLoad, 10, 90), stage(kRead, 20, 50)}, 80, 30, 20},
        UnionCase{"NestedThenLater",
                  {stage(kLoad, 0, 50), stage(kRead, 10, 20), stage(kPrefill, 40, 60)},
                  60,
                  20,
                  40},
        UnionCase{"Thrice",
                  {stage(kRead, 0, 30), stage(kLoad, 0, 30), stage(kCompile, 0, 30)},
                  30,
                  60,
                  70},
        UnionCase{"PrefillBesideItsLoad",
                  {stage(kRead, 10, 80), stage(kLoad, 10, 85), stage(kContext, 10, 15),
                   stage(kQueue, 0, 12), stage(kPrefill, 12, 95), stage(kFirstDecode, 95, 100)},
                  100,
                  150,
                  0},
        UnionCase{"PrefillEndsBeforeTheRead",
                  {stage(kRead, 0, 90), stage(kPrefill, 5, 60), stage(kFirstDecode, 60, 61)},
                  90,
                  56,
                  10},
        UnionCase{"UnsortedInput", {stage(kPrefill, 60, 90), stage(kQueue, 0, 10)}, 40, 0, 60},
        UnionCase{"BeforeTheRequest", {stage(kLoad, -50, -10)}, 0, 0, 100},
        UnionCase{"ClippedAtTheStart", {stage(kLoad, -50, 30)}, 30, 0, 70},
        UnionCase{"ClippedAtTheEnd", {stage(kDecode, 80, 130)}, 20, 0, 80},
        UnionCase{"AfterTheRequest", {stage(kDecode, 120, 130)}, 0, 0, 100},
        UnionCase{"EndBeforeStart", {stage(kPrefill, 50, 40)}, 0, 0, 100}),
    [](const auto& test) { return std::string{test.param.name}; });

// Against counting millisecond by millisecond, for arrangements nobody thought of.
TEST(Timeline, UnionOfRandomStagesIsWhatCountingGives) {
  std::minstd_rand random{7};
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    Timeline timeline;
    timeline.begin(kFirstByte);
    std::vector<int> running(100, 0);
    for (int i = below(8); i > 0; --i) {
      const int from = below(140) - 20;
      const int to = from + below(60);
      timeline.add(stage(static_cast<StageKind>(below(14)), from, to));
      for (int ms = std::max(from, 0); ms < std::min(to, 100); ++ms) ++running.at(ms);
    }
    timeline.finish(at(100));
    const auto covered = std::ranges::count_if(running, [](int n) { return n > 0; });
    const Timings timings = timeline.timings();
    ASSERT_EQ(timings.covered, milliseconds{covered});
    ASSERT_EQ(timings.overlap,
              milliseconds{std::accumulate(running.begin(), running.end(), 0L) - covered});
    ASSERT_EQ(timings.other, milliseconds{100 - covered});
  }
}

TEST(Timeline, SortsStagesAndCountsThemFromTheFirstByte) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add(stage(kPrefill, 20, 30));
  timeline.add({stage(kLoad, 5, 20), stage(kRead, 5, 15)});
  timeline.finish(at(30));
  const std::vector<TimedStage> stages = timeline.timings().stages;
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].kind, kRead);
  EXPECT_EQ(stages[0].start, milliseconds{5});
  EXPECT_EQ(stages[0].length, milliseconds{10});
  EXPECT_EQ(stages[1].kind, kLoad);
  EXPECT_EQ(stages[2].kind, kPrefill);
}

TEST(Timeline, JoinedLoadIsSharedAndKeepsItsBytes) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add({.kind = kRead, .start = at(-80), .end = at(-5), .bytes = Bytes{1000}});
  timeline.add(stage(kLoad, -20, 40));
  timeline.add(stage(kPrefill, 40, 50));
  timeline.finish(at(50));
  const Timings timings = timeline.timings();
  EXPECT_TRUE(timings.shared);
  EXPECT_EQ(timings.stages[0].bytes, Bytes{1000});
  EXPECT_EQ(timings.stages[0].length, Duration{});
  EXPECT_TRUE(timings.stages[0].shared);
  EXPECT_TRUE(timings.stages[1].shared);
  EXPECT_EQ(timings.stages[1].length, milliseconds{40});
  EXPECT_FALSE(timings.stages[2].shared);
}

TEST(Timeline, QueuedIsTheUnionOfAllWaits) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add({stage(kQueue, 0, 10), stage(kQueue, 5, 20), stage(kQueue, 40, 45)});
  timeline.finish(at(50));
  EXPECT_EQ(timeline.timings().queued, milliseconds{25});
}

TEST(Timeline, EndsWithItsLatestStageUntilFinished) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  EXPECT_EQ(timeline.timings().total, Duration{});
  timeline.add(stage(kPrefill, 0, 12));
  EXPECT_EQ(timeline.timings().total, milliseconds{12});
  timeline.finish(at(20));
  EXPECT_EQ(timeline.timings().other, milliseconds{8});
}

TEST(Timeline, TimeInCountsNestedKindsOnce) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add({stage(kSpawn, 0, 10), stage(kLoad, 10, 50), stage(kContext, 40, 60)});
  timeline.finish(at(60));
  const Timings timings = timeline.timings();
  EXPECT_EQ(timings.time_in({kLoad, kContext}), milliseconds{50});
  EXPECT_EQ(timings.time_in({kCompile}), Duration{});
  EXPECT_TRUE(timings.has(kContext));
  EXPECT_FALSE(timings.has(kCompile));
}

TEST(Timeline, DeliveryCountsIntoTheStageThatMadeTheLastPart) {
  Timeline timeline;
  timeline.begin(at(0));
  timeline.add({StageKind::kPrefill, at(0), at(20), Bytes{}});
  timeline.add({StageKind::kDecode, at(20), at(40), Bytes{}});
  timeline.deliver(at(47));
  timeline.finish(at(47));
  const Timings timings = timeline.timings();
  EXPECT_EQ(timings.other, Duration::zero());
  EXPECT_EQ(timings.time_in({StageKind::kDecode}), milliseconds{27});
}

TEST(Timeline, DeliveryHidesNoGapBehindOtherStages) {
  Timeline timeline;
  timeline.begin(at(0));
  timeline.add({StageKind::kQueue, at(0), at(20), Bytes{}});
  timeline.deliver(at(47));
  timeline.finish(at(47));
  EXPECT_EQ(timeline.timings().other, milliseconds{27});
}

}  // namespace
}  // namespace hearth

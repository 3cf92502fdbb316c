// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "timeline/verdict.h"

namespace hearth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using enum VerdictCode;
using enum StageKind;

constexpr TimePoint kFirstByte{std::chrono::hours{1}};

Stage stage(StageKind kind, int from, int to) {
  return {.kind = kind,
          .start = kFirstByte + milliseconds{from},
          .end = kFirstByte + milliseconds{to},
          .bytes = {}};
}

// Of one second.
Timeline timeline_of(const std::vector<Stage>& stages) {
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add(stages);
  timeline.finish(kFirstByte + seconds{1});
  return timeline;
}

TEST(VerdictBesideTheClass, OfALoadThatComputedAnewWhatWasKeptIsItsOwnCause) {
  Facts facts{.model = "tiny", .weights_loaded = true, .compiled = true};
  facts.weights_cause = kWeightsFirstUse;
  const Timeline timeline = timeline_of({stage(kLoad, 0, 800), stage(kCompile, 200, 500)});
  const auto code_for = [&](std::optional<VerdictCode> cause) {
    facts.compiled_cause = cause;
    return explain(facts, timeline, Before{})->code;
  };
  for (const VerdictCode cause :
       {kCompiledEngine, kCompiledDriver, kCompiledHardware, kCompiledModel}) {
    EXPECT_EQ(code_for(cause), cause);
  }
  EXPECT_EQ(explain(facts, timeline, Before{})->cost, milliseconds{300});
  EXPECT_EQ(code_for(kCompiledFirst), kWeightsFirstUse);
  EXPECT_EQ(code_for({}), kWeightsFirstUse);
  facts.compiled = false;
  EXPECT_EQ(code_for(kCompiledEngine), kWeightsFirstUse);
}

TEST(VerdictBesideTheClass, AHeadThatAlwaysChangesCostsItsShareOfPrefill) {
  Facts facts{.model = "tiny", .prompt_tokens = 500, .cached_tokens = 100};
  const Timeline timeline = timeline_of({stage(kPrefill, 0, 400)});
  EXPECT_FALSE(explain(facts, timeline, Before{}));
  facts.behind_volatile_head = 300;
  const auto verdict = explain(facts, timeline, Before{});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->code, kPrefixDiverged);
  EXPECT_EQ(verdict->cost, milliseconds{300});
}

}  // namespace
}  // namespace hearth

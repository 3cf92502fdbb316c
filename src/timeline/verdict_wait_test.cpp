// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "timeline/verdict.h"

namespace hearth {
namespace {

using namespace literals;
using std::chrono::milliseconds;

constexpr TimePoint kFirstByte{std::chrono::hours{1}};

Stage stage(StageKind kind, int from, int to) {
  return {.kind = kind,
          .start = kFirstByte + milliseconds{from},
          .end = kFirstByte + milliseconds{to},
          .bytes = {}};
}

// A cold load that waited for a device and then read for as long as the rest of a second.
VerdictCode verdict_after(int waited_ms) {
  Facts facts{.model = "tiny", .prompt_tokens = 8};
  facts.bytes_read = 100_MiB;
  facts.weights_loaded = true;
  facts.behind_load = milliseconds{waited_ms};
  Timeline timeline;
  timeline.begin(kFirstByte);
  timeline.add({stage(StageKind::kQueue, 0, waited_ms), stage(StageKind::kRead, waited_ms, 1000)});
  timeline.finish(kFirstByte + milliseconds{1000});
  const auto found = explain(facts, timeline, Before{});
  return found ? found->code : VerdictCode::kPowerRamp;
}

TEST(VerdictOfAWait, TheLargerPartIsBlamed) {
  EXPECT_EQ(verdict_after(0), VerdictCode::kPagesNeverRead);
  EXPECT_EQ(verdict_after(300), VerdictCode::kPagesNeverRead);
  EXPECT_EQ(verdict_after(700), VerdictCode::kQueueBehindLoad);
}

}  // namespace
}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "front/protected/latency_window.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

TimePoint at(Duration time) { return TimePoint{1h} + time; }

TEST(LatencyWindow, HasQuantilesByRank) {
  LatencyWindow window{100, 1min};
  EXPECT_EQ(window.quantile(0.99), 0ms);
  for (int i = 100; i >= 1; --i) window.add(at(0s), i * 1ms);
  EXPECT_EQ(window.quantile(0.0), 1ms);
  EXPECT_EQ(window.quantile(0.5), 50ms);
  EXPECT_EQ(window.quantile(0.99), 99ms);
  EXPECT_EQ(window.quantile(1.0), 100ms);
  EXPECT_EQ(window.count_above(97ms), 3u);
}

TEST(LatencyWindow, ForgetsWhatIsOldOrTooMuch) {
  LatencyWindow window{3, 10s};
  for (int i = 0; i < 5; ++i) window.add(at(i * 1s), i * 1ms);
  EXPECT_EQ(window.size(), 3u);
  EXPECT_EQ(window.quantile(0.0), 2ms);
  window.add(at(13s), 9ms);
  EXPECT_EQ(window.size(), 3u);
  EXPECT_EQ(window.quantile(0.0), 3ms);
  window.add(at(14500ms), 9ms);
  EXPECT_EQ(window.size(), 2u);
  window.drop_before(at(20s));
  EXPECT_EQ(window.size(), 0u);
}

}  // namespace
}  // namespace hearth::front

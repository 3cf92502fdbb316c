// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fetcher/patience.h"
#include "fetcher/token_bucket.h"

namespace hearth::fetcher {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucket, KeepsToItsRate) {
  ManualClock clock;
  TokenBucket bucket{Bytes{1'000'000}, clock.now()};
  std::uint64_t taken = 0;
  const TimePoint end = clock.now() + 10s;
  while (clock.now() < end) {
    const Duration wait = bucket.wait(clock.now());
    if (wait > Duration{}) {
      clock.advance(wait);
      continue;
    }
    bucket.take(Bytes{16'384});
    taken += 16'384;
  }
  EXPECT_NEAR(static_cast<double>(taken), 10'000'000.0, 150'000.0);
}

TEST(TokenBucket, WithoutALimitNobodyWaits) {
  ManualClock clock;
  TokenBucket bucket{Bytes{}, clock.now()};
  bucket.take(Bytes{std::uint64_t{1} << 60});
  EXPECT_EQ(bucket.wait(clock.now()), Duration{});
}

TEST(TokenBucket, ALongRestGivesNoFlood) {
  ManualClock clock;
  TokenBucket bucket{Bytes{1'000'000}, clock.now()};
  clock.advance(1h);
  EXPECT_EQ(bucket.wait(clock.now()), Duration{});
  bucket.take(Bytes{200'000});
  EXPECT_GE(bucket.wait(clock.now()), 100ms);
}

TEST(Patience, DoublesUpToAMinuteThenGivesUp) {
  Patience patience{8, 1s};
  for (const auto expected : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    EXPECT_EQ(patience.failed(std::nullopt), expected);
  }
  EXPECT_FALSE(patience.failed(std::nullopt));
}

TEST(Patience, ProgressBeginsAnew) {
  Patience patience{2, 10ms};
  EXPECT_EQ(patience.failed({}), 10ms);
  EXPECT_EQ(patience.failed({}), 20ms);
  patience.progressed();
  EXPECT_EQ(patience.failed({}), 10ms);
  EXPECT_EQ(patience.failed({}), 20ms);
  EXPECT_FALSE(patience.failed({}));
}

TEST(Patience, HeedsTheServer) {
  Patience patience{9, 10ms};
  EXPECT_EQ(patience.failed(8s), 8s);
  EXPECT_EQ(patience.failed(0s), 20ms);
  EXPECT_EQ(patience.failed(24h), 10min);
}

TEST(Patience, MayBeNone) {
  Patience patience{0, 10ms};
  EXPECT_FALSE(patience.failed({}));
}

}  // namespace
}  // namespace hearth::fetcher

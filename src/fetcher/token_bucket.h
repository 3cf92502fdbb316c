// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth::fetcher {

// Holds what is taken to so many bytes a second, over all who take. A taking may overdraw; the next
// ones wait until that is made good. Not thread-safe.
class TokenBucket {
 public:
  // Zero: no limit. A tenth of a second's worth may come at once.
  TokenBucket(Bytes per_second, TimePoint now)
      : rate_{static_cast<double>(per_second.count())}, level_{burst()}, at_{now} {}

  // How long to wait before the next taking; zero: take.
  Duration wait(TimePoint now) {
    if (rate_ <= 0) return Duration{};
    level_ = std::min(burst(), level_ + rate_ * std::chrono::duration<double>(now - at_).count());
    at_ = now;
    if (level_ > 0) return Duration{};
    // Until a part of the burst is there, so that waiters do not wake for single bytes.
    const std::chrono::duration<double> seconds{(burst() / 4 - level_) / rate_};
    return std::chrono::duration_cast<Duration>(seconds);
  }

  void take(Bytes bytes) {
    if (rate_ > 0) level_ -= static_cast<double>(bytes.count());
  }

 private:
  double burst() const { return std::max(rate_ / 10, 1.0); }

  double rate_;
  double level_;
  TimePoint at_;
};

}  // namespace hearth::fetcher

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth::front {

// How fast something has come lately. Not thread-safe.
class Rate {
 public:
  static constexpr std::chrono::seconds kWindow{5};

  // `total`: so far; never less than before.
  void note(TimePoint now, Bytes total) {
    samples_.push_back({now, total});
    while (samples_.size() > 2 && now - samples_.front().at > kWindow) samples_.pop_front();
  }
  void clear() { samples_.clear(); }

  // Zero until something has been measured.
  double bytes_per_s() const {
    if (samples_.size() < 2) return 0;
    const std::chrono::duration<double> time = samples_.back().at - samples_.front().at;
    if (time.count() <= 0) return 0;
    const Bytes came = samples_.back().total - samples_.front().total;
    return static_cast<double>(came.count()) / time.count();
  }
  std::optional<double> eta_ms(Bytes left) const {
    const double rate = bytes_per_s();
    if (rate <= 0) return std::nullopt;
    return 1000.0 * static_cast<double>(left.count()) / rate;
  }

 private:
  struct Sample {
    TimePoint at;
    Bytes total;
  };
  std::deque<Sample> samples_;
};

}  // namespace hearth::front

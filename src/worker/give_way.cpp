// SPDX-License-Identifier: Apache-2.0
#include "worker/give_way.h"

#include <algorithm>

namespace hearth::worker {
namespace {

constexpr std::chrono::seconds kLongestRest{10};

Duration scaled(Duration time, double by) {
  return Duration{static_cast<Duration::rep>(static_cast<double>(time.count()) * by)};
}

}  // namespace

void DutyCycle::set_percent(int percent) {
  percent_ = std::clamp(percent, 1, 100);
  if (!rests()) unrested_ = {};
}

void DutyCycle::worked(TimePoint begin, TimePoint end) {
  if (!rests() || end <= begin) return;
  const Duration rested = ended_ == TimePoint{} ? Duration{} : std::max(begin - ended_, Duration{});
  unrested_ = std::max(unrested_ - scaled(rested, 1 / rest_for_work()), Duration{});
  unrested_ = std::min(unrested_ + (end - begin), scaled(kLongestRest, 1 / rest_for_work()));
  ended_ = end;
}

TimePoint DutyCycle::rest_until() const { return ended_ + scaled(unrested_, rest_for_work()); }

}  // namespace hearth::worker

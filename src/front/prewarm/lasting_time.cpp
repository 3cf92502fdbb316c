// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/lasting_time.h"

#include <algorithm>
#include <utility>

namespace hearth::front {
namespace {

constexpr std::int64_t kLongestAbsence_s = 30 * 24 * 3600;

Duration by_wall(std::int64_t from_s, std::int64_t to_s) {
  if (to_s <= from_s) return {};
  const auto apart = static_cast<std::uint64_t>(to_s) - static_cast<std::uint64_t>(from_s);
  return std::chrono::seconds{std::min(apart, static_cast<std::uint64_t>(kLongestAbsence_s))};
}

}  // namespace

LastingTime::LastingTime(std::string boot, LastingNotes before)
    : boot_{std::move(boot)}, time_{before.time}, seen_{before.seen} {
  rebooted_ = boot_.empty() || boot_ != before.boot;
}

Duration LastingTime::at(const Instant& moment) {
  if (seen_) {
    time_ += rebooted_ ? by_wall(seen_->local_s, moment.local_s)
                       : std::max(Duration{}, moment.boot - seen_->boot);
  }
  seen_ = moment;
  rebooted_ = false;
  return time_;
}

}  // namespace hearth::front

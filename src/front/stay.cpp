// SPDX-License-Identifier: Apache-2.0
#include "front/stay.h"

#include <algorithm>
#include <utility>

namespace hearth::front {

void Stay::set_default(StayTerms terms) {
  default_ = std::move(terms);
  arm();
}

void Stay::set_pin(Pin pin) {
  const bool pinned = pin == Pin::kPinned;
  if (pinned == pinned_) return;
  pinned_ = pinned;
  since_ = loop_.now();
  arm();
}

void Stay::arrive() {
  ++users_;
  disarm();
}

void Stay::reach(const std::optional<KeepAlive>& wish) { wish_ = wish; }

void Stay::leave(Left how) {
  --users_;
  if (how == Left::kServed) since_ = loop_.now();
  arm();
}

void Stay::resident() {
  if (resident_) return;
  resident_ = true;
  since_ = loop_.now();
  arm();
}

void Stay::gone() {
  resident_ = false;
  wish_.reset();
  disarm();
}

StayTerms Stay::terms() const {
  if (pinned_) return {KeepAlive::until_wanted(), "pin"};
  return wish_ ? StayTerms{*wish_, "request"} : default_;
}

void Stay::arm() {
  disarm();
  const KeepAlive keep_alive = terms().keep_alive;
  if (users_ > 0 || !resident_ || keep_alive.is_until_wanted()) return;
  const TimePoint now = loop_.now();
  const TimePoint when = std::max(now, since_ + keep_alive.length());
  expires_at_us_ = clock_.wall_us() + (when - now) / std::chrono::microseconds{1};
  timer_ = loop_.call_at(when, [this] { expire(); });
}

void Stay::disarm() {
  expires_at_us_.reset();
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
}

void Stay::expire() {
  timer_ = 0;
  expires_at_us_.reset();
  expired_ = terms();
  give_back_();
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/memory/reservation.h"

#include <utility>

#include "front/memory/capped_sum.h"

namespace hearth::front {

Bytes Promises::left() const {
  Bytes sum;
  for (const auto& [number, promise] : open) sum = capped_sum(sum, promise.left());
  return sum;
}

Reservation::Reservation(Reservation&& other) noexcept
    : promises_{std::move(other.promises_)}, number_{std::exchange(other.number_, 0)} {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  release();
  promises_ = std::move(other.promises_);
  number_ = std::exchange(other.number_, 0);
  return *this;
}

const Promises::Promise* Reservation::promise() const {
  return promises_ ? &promises_->open.at(number_) : nullptr;
}

const std::string& Reservation::artifact() const {
  static const std::string nobody;
  return promises_ ? promise()->artifact : nobody;
}

Bytes Reservation::asked() const { return promises_ ? promise()->asked : Bytes{}; }
Bytes Reservation::left() const { return promises_ ? promise()->left() : Bytes{}; }

void Reservation::now_held(Bytes so_far) {
  if (!promises_) return;
  promises_->open.at(number_).so_far = so_far;
}

void Reservation::release() {
  if (!promises_) return;
  promises_->open.erase(number_);
  promises_.reset();
  number_ = 0;
}

}  // namespace hearth::front

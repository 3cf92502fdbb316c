// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace hearth::front {

// What a budget has promised, by number of the reservation.
struct Promises {
  struct Promise {
    std::string artifact;
    Bytes asked;
    Bytes so_far;  // what is held of it, or more

    Bytes left() const { return asked - so_far; }
  };
  std::uint64_t next = 1;
  std::map<std::uint64_t, Promise> open;

  Bytes left() const;
};

// Memory promised to one load. It is given back when this goes, whatever path control took, or by
// release(). Moves; may outlive its budget. Belongs to the loop.
class Reservation {
 public:
  Reservation() = default;  // of nothing
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { release(); }

  explicit operator bool() const { return promises_ != nullptr; }
  const std::string& artifact() const;  // empty: of nothing
  Bytes asked() const;
  Bytes left() const;  // of it, what is still promised

  // So much of what this load was to take is in the budget's held figures by now, all in all: call
  // it with each set_held(), so that nothing counts twice. It may grow and shrink; beyond asked()
  // nothing is left.
  void now_held(Bytes so_far);

  // Nothing is promised any more: the load ended, in whatever way.
  void release();

 private:
  friend class MemoryBudget;
  Reservation(std::shared_ptr<Promises> promises, std::uint64_t number)
      : promises_{std::move(promises)}, number_{number} {}
  const Promises::Promise* promise() const;

  std::shared_ptr<Promises> promises_;  // shared with the budget: either may go first
  std::uint64_t number_ = 0;
};

}  // namespace hearth::front

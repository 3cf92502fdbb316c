// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace hearth {

// How many bytes may still be written today: flash wears by what is written to it. Days are those
// of UTC. A clock that is set back starts no new day, so that it cannot give a budget twice; one
// that is set forward does.
//
// A value without a clock and without a file: whoever holds it passes the time, and keeps state()
// over a restart. Belongs to one thread.
class WriteBudget {
 public:
  struct State {
    std::int64_t day = 0;  // since 1970-01-01
    Bytes written;         // on it

    friend bool operator==(const State&, const State&) = default;
  };

  WriteBudget() = default;
  explicit WriteBudget(State kept) : state_{kept} {}

  // `now_us` is Clock::wall_us().
  Bytes written(std::int64_t now_us) const;
  // Whether `size` more stays within `daily`.
  bool allows(Bytes size, Bytes daily, std::int64_t now_us) const;
  // They have been written, or are being written, budget or not.
  void note_written(Bytes size, std::int64_t now_us);

  State state() const { return state_; }

 private:
  State state_;
};

}  // namespace hearth

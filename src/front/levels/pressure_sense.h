// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth::front {

// How the machine's memory is, at one moment.
struct MemorySign {
  Bytes total;
  Bytes available;            // what could be had without anybody losing unreclaimable memory
  Bytes reserve;              // that is to stay available
  double some_avg10 = 0;      // PSI of memory, percent
  std::optional<Bytes> over;  // by which the budget is exceeded
};

struct PressureTerms {
  double psi_limit = 10;                       // percent
  Duration psi_for = std::chrono::seconds{2};  // so long above it
};

// When memory is wanted by somebody else, and how much. Pure; belongs to one thread.
//
// Stalls alone are no reason: tasks of a small container stall at its own limit while the machine
// has plenty. So they count only while little is available.
class PressureSense {
 public:
  // What should be given back now; zero: nothing. Stalls do not say how much: then it is a small
  // amount, after which one looks again.
  Bytes wanted(const MemorySign& sign, TimePoint now, const PressureTerms& terms);

  // Until the next look: soon, while memory is about to run out.
  static Duration interval(const MemorySign& sign);

 private:
  std::optional<TimePoint> stalled_since_;
};

}  // namespace hearth::front

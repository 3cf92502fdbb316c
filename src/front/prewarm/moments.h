// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/boot_clock.h"
#include "base/clock.h"
#include "policy/instant.h"

namespace hearth::front {

// Tells the moment on both clocks that habits are learnt by.
class Moments {
 public:
  explicit Moments(const Clock& clock = Clock::real(), const BootClock& boot = BootClock::real())
      : clock_{clock}, boot_{boot} {}

  Instant now() const;
  std::int64_t wall_us() const { return clock_.wall_us(); }

 private:
  const Clock& clock_;
  const BootClock& boot_;
};

// Names this boot of the machine, so that boot times of two runs of the server can be told to be of
// one clock; empty where the kernel does not say.
std::string this_boot();

}  // namespace hearth::front

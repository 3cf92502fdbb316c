// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace hearth {

// CLOCK_BOOTTIME: how long the machine has been up, its sleep included, which TimePoint leaves out.
// Nobody sets it; it begins anew with the machine. Thread-safe.
class BootClock {
 public:
  virtual ~BootClock() = default;
  virtual Duration since_boot() const = 0;

  static const BootClock& real();
};

// A boot clock that moves only when a test says so.
class ManualBootClock : public BootClock {
 public:
  Duration since_boot() const override { return since_boot_; }
  void advance(Duration by) { since_boot_ += by; }
  void reboot() { since_boot_ = std::chrono::seconds{5}; }

 private:
  Duration since_boot_{std::chrono::hours{2}};
};

}  // namespace hearth

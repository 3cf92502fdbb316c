// SPDX-License-Identifier: Apache-2.0
#include "base/boot_clock.h"

#include <ctime>

namespace hearth {
namespace {

class RealBootClock : public BootClock {
 public:
  Duration since_boot() const override {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
  }
};

}  // namespace

const BootClock& BootClock::real() {
  static const RealBootClock clock;
  return clock;
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/boot_clock.h"
#include "base/clock.h"
#include "base/sim_event_loop.h"
#include "front/prewarm/moments.h"

namespace hearth::front::testing {

// The clocks of a machine whose loop is simulated: it can sleep, be rebooted, and be set wrong.
class SimClocks : public Clock, public BootClock {
 public:
  explicit SimClocks(const SimEventLoop& loop) : loop_{loop} {}

  TimePoint now() const override { return loop_.now(); }
  std::int64_t wall_us() const override { return loop_.clock().wall_us() + microseconds(wall_); }
  Duration since_boot() const override { return loop_.now().time_since_epoch() + boot_; }
  Moments moments() const { return Moments{*this, *this}; }

  // The machine's, of which its loop knows nothing.
  void sleep(Duration time) {
    wall_ += time;
    boot_ += time;
  }
  void set_wall(Duration by) { wall_ += by; }

 private:
  static std::int64_t microseconds(Duration time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  }

  const SimEventLoop& loop_;
  Duration wall_{};
  Duration boot_{};
};

}  // namespace hearth::front::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "policy/instant.h"

namespace hearth::front {

// What is kept of a time line over restarts.
struct LastingNotes {
  Duration time{};
  Instant seen{};    // the moment at which it stood there
  std::string boot;  // see this_boot()
};

// One time line over restarts of server and machine, that never goes back. Within one boot it is
// CLOCK_BOOTTIME; over a reboot the wall clock tells how long nobody was there, where it is
// credible: not less than nothing, and a month at most. A pure value; not thread-safe.
class LastingTime {
 public:
  // `boot` names the boot that moments are of from now on.
  explicit LastingTime(std::string boot) : boot_{std::move(boot)} {}
  LastingTime(std::string boot, LastingNotes before);

  Duration at(const Instant& moment);
  LastingNotes notes() const { return {time_, seen_.value_or(Instant{}), boot_}; }

 private:
  std::string boot_;
  Duration time_{};
  std::optional<Instant> seen_{};
  bool rebooted_ = false;  // `seen_` is of another boot
};

}  // namespace hearth::front

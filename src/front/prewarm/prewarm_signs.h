// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace hearth::front {

// What decides whether anything may be read ahead at this moment.
struct PrewarmSigns {
  bool enabled = true;                       // the option `prewarm`
  bool layers_on = true;                     // neither `pages` nor `weights` is switched off
  int requests = 0;                          // in, or waiting
  bool loading = false;                      // a load that somebody waits for, or asked for
  bool given_way = false;                    // a protected service forbids it
  std::optional<Duration> since_pressure{};  // memory was wanted so long ago

  static constexpr Duration kQuiet = std::chrono::seconds{60};
};

// In words; empty: it may.
std::string_view why_not_prewarm(const PrewarmSigns& signs);

}  // namespace hearth::front

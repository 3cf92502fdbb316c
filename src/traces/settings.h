// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "traces/post.h"

namespace hearth::traces {

// What the configuration says.
struct Settings {
  std::string endpoint{};  // empty: nothing is sent
  Headers headers{};       // of each post; secret
  std::string service_name = "hearth";
  std::int64_t sample_percent = 100;  // of requests that come without a trace

  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace hearth::traces

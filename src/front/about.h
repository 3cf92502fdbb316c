// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/array.hpp>
#include <string>

#include "base/clock.h"
#include "layers/switches.h"

namespace hearth::front {

struct About {
  Duration uptime{};
  std::size_t models = 0;
  int requests = 0;
  LayerSwitches switches;
  boost::json::array devices;  // see Devices::shown()
};

// Versions, uptime, which layers are on, and the figures of this process, as JSON.
std::string about_json(const About& about);

}  // namespace hearth::front

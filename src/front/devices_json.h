// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>

#include "layers/pages/read_choice.h"

namespace hearth::front {

// What people are shown of a device.
struct DeviceView {
  const Device& device;
  const DeviceRates& rates;
  const ReadChoice* choice;  // the last; null: nothing has been read yet
  bool serial;
  bool busy;
  int waiting;
};
boost::json::object device_json(const DeviceView& view);

}  // namespace hearth::front

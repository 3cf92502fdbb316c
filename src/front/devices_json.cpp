// SPDX-License-Identifier: Apache-2.0
#include "front/devices_json.h"

#include <boost/json.hpp>
#include <cmath>

namespace hearth::front {
namespace json = boost::json;
namespace {

void add_style(json::object& out, const ReadStyle& style) {
  out["mode"] = name_of(style.way);
  out["readers"] = style.readers;
  out["direction"] = name_of(style.direction);
  out["block_bytes"] = style.block.count();
}

json::array rates_json(const DeviceRates& rates) {
  json::array list;
  for (const StyleRate& rate : rates) {
    json::object one;
    add_style(one, rate.style);
    one["bytes_per_s"] = std::llround(rate.bytes_per_s);
    one["reads"] = rate.reads;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

json::object device_json(const DeviceView& view) {
  const Device& device = view.device;
  json::object out{{"name", device.name},
                   {"kind", name_of(device.kind)},
                   {"file_system", device.file_system},
                   {"one_at_a_time", view.serial},
                   {"reading", view.busy},
                   {"waiting", view.waiting}};
  if (device.read_ahead) out["read_ahead_bytes"] = device.read_ahead->count();
  const std::string finding = read_ahead_finding(device);
  if (!finding.empty()) out["finding"] = finding;
  if (view.choice != nullptr) {
    json::object chosen;
    add_style(chosen, view.choice->style);
    chosen["why"] = view.choice->why;
    out["choice"] = std::move(chosen);
  }
  out["rates"] = rates_json(view.rates);
  return out;
}

}  // namespace hearth::front

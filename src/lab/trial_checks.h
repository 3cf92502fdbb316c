// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/state/state_spec.h"
#include "lab/trial.h"

namespace hearth::lab {

// What there is to say against a measured row; each begins as Trial::flags tells. Pure.

// Others used processors, or memory was swapped.
std::optional<std::string> disturbance(const Trial& trial, double disturbed_cores);

// More was read in the time than the device can give, or far less than was missing. `fastest`:
// bytes per second; nullopt: not known.
std::optional<std::string> impossibility(const StateSpec& spec, const Trial& trial,
                                         std::optional<double> fastest);

// The control, tokens per second, lies further than `tolerance` from the median of `rates`. Of
// fewer than three nothing is said.
std::optional<std::string> control_off(double rate, std::vector<double> rates, double tolerance);

}  // namespace hearth::lab

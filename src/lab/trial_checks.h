// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lab/state/state_spec.h"
#include "lab/target/target.h"
#include "lab/trial.h"

namespace hearth::lab {

// What there is to say against a measured row; each begins as Trial::flags tells. Pure.

// Others used processors, or memory was swapped.
std::optional<std::string> disturbance(const Trial& trial, double disturbed_cores);

// More was read in the time than the device can give, or far less than was missing. The time is
// what the server tells of reading, else the wait for the first token. `fastest`: bytes per second;
// nullopt: not known.
std::optional<std::string> impossibility(const StateSpec& spec, const Trial& trial,
                                         std::optional<double> fastest);

// A trial whose extra has "read_limit_mb_s" read faster than that, so that the limit did not hold;
// or it could not be seen.
std::optional<std::string> too_fast_for_its_limit(const StateSpec& spec, const Trial& trial);

// The competing work did nothing.
std::optional<std::string> idleness(const Trial& trial);

// Nothing was written, or less than was asked by a server that goes on at a text's end.
std::optional<std::string> shortness(const Question& question, const Answer& answer);

// The control, tokens per second, lies further than `tolerance` from the median of `rates`. Of
// fewer than three nothing is said.
std::optional<std::string> control_off(double rate, std::vector<double> rates, double tolerance);

// A pause was longer than it was to be, by more than a tenth and by more than 5 s: the lab was
// ended in between, or waited for a quiet machine.
std::optional<std::string> overlong(double waited_s, std::chrono::minutes pause);

}  // namespace hearth::lab

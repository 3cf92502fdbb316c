// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/terminal.h"

// What the server says about models that come and go, as text. Pure.
namespace hearth::cli {

// "pulled smollm2:latest (91.7 MiB) in 1.2 s, 76.4 MiB/s" from a pull's last line.
std::string pulled_sentence(const boost::json::object& answer);

// SOURCE NAME STATE DONE SPEED, a line for each pull.
std::string pulls_table(const boost::json::array& pulls, const OutputStyle& style);

// "good     smollm2:latest  91.7 MiB", with a second line where there is something to do.
std::string verified_line(const boost::json::object& verified, const OutputStyle& style);

// Whether all that a verify found is as it should be; `done`: its last line's.
bool all_good(const boost::json::object& done);

// The items of a prune, and how much room they take or took.
std::string prunable_text(const boost::json::object& answer, const OutputStyle& style);

// What cooling the artifact layer would mean.
std::string cool_preview_text(const boost::json::object& preview);

}  // namespace hearth::cli

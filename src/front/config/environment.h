// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "front/config.h"
#include "front/config/problems.h"

namespace hearth::front {

// "HEARTH_LOG_LEVEL" of "log_level".
std::string variable_of(std::string_view option);

// Takes over HEARTH_*, and notes those that are no option.
void read_hearth_variables(Config& config, const Environment& environment, Problems& problems);

// Takes over OLLAMA_* for options that are still at their defaults, and notes each one.
void read_ollama_variables(Config& config, const Environment& environment, Problems& problems);

// Takes over one text, from wherever it came.
void read_setting(Config& config, const Setting& setting, Source source, Problems& problems);

}  // namespace hearth::front

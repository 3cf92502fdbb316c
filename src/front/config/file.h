// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "front/config.h"
#include "front/config/problems.h"

namespace hearth::front {

// Takes over what the TOML file says; what is wrong with it goes into `problems`, with line and
// column, and leaves its option as it was.
void read_config_file(Config& config, const std::string& path, Problems& problems);

}  // namespace hearth::front

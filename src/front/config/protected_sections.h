// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <string>

#include "front/config.h"
#include "front/config/problems.h"

namespace hearth::front {

inline constexpr std::size_t kMostProtected = 16;

// Reads [protected."recorder"] and its like out of the file's "protected" into
// config.protected_services. Whether such a service is there is not looked at.
void read_protected_sections(Config& config, const toml::node& services, const std::string& path,
                             Problems& problems);

}  // namespace hearth::front

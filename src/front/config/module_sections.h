// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <string>

#include "front/config.h"
#include "front/config/problems.h"

namespace hearth::front {

// Reads [modules."house"] and its like out of the file's "modules" into config.modules. A file that
// a section names is not opened; a relative path is one beside the configuration.
void read_module_sections(Config& config, const toml::node& modules, const std::string& path,
                          Problems& problems);

}  // namespace hearth::front

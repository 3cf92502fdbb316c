// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <string>

#include "front/config.h"
#include "front/config/problems.h"

namespace hearth::front {

// Reads [models."qwen:9b"] and its like out of the file's "models" into config.models. A name can
// be a section's or one section's alias, only once in all.
void read_model_sections(Config& config, const toml::node& models, const std::string& path,
                         Problems& problems);

}  // namespace hearth::front

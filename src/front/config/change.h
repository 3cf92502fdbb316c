// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "front/config.h"

namespace hearth::front {

// Names of options; those of a model's section as `models."qwen:9b".keep_alive`.
struct ConfigChange {
  std::vector<std::string> changed;        // taken over
  std::vector<std::string> needs_restart;  // as they were
};

// Takes over from `next` what can change while the server runs.
ConfigChange take_over(Config& running, const Config& next);

}  // namespace hearth::front

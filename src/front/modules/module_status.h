// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "front/modules/module.h"

namespace hearth::front {

// A module as people see it.
struct ModuleStatus {
  struct OfModel {
    std::string model;          // its canonical name
    std::optional<int> tokens;  // of the text; absent until this model's worker has counted them
    // "live", "memory", "disk", "none"; empty while that cannot be known: no worker was there yet
    std::string level;
  };
  Module module;
  std::vector<OfModel> models;  // for which it is kept warm
};

// {"name","version","source","bytes","file"?,"broken"?,"models":[{"model","tokens","level"}],
// "text"?}. Files are shown to those who run the server.
struct ModuleShown {
  enum class Files { kShown, kHidden } files = Files::kShown;
  enum class Text { kShown, kLeftOut } text = Text::kLeftOut;
};
std::string to_json(const ModuleStatus& status, ModuleShown shown);

}  // namespace hearth::front

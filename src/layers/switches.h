// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "layers/layer.h"

namespace hearth {

// Which layers may keep anything. Switching one off shows what it was worth.
struct LayerSwitches {
  bool artifact = true;
  bool pages = true;
  bool weights = true;
  bool compiled = true;
  bool prefix = true;

  bool enabled(LayerKind kind) const;
  friend bool operator==(const LayerSwitches&, const LayerSwitches&) = default;
};

// All on but the layers named. Errors: kInvalid, naming the word that is no layer.
Result<LayerSwitches> switches_without(std::span<const std::string> names);

}  // namespace hearth

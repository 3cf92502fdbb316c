// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace hearth::front {

// A part of what is kept of prompts.
struct PrefixChoice {
  enum class Tier {
    kAll,     // memory and disk: it is deleted
    kMemory,  // what is on disk stays, and what is not goes there
  };
  std::string model;  // a name; empty: all models
  // The name of a key, of today or of once: what was kept for it, and for those that share with it.
  std::optional<std::string> key{};
  Tier tier = Tier::kAll;
};

}  // namespace hearth::front

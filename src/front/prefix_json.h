// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "front/prefix/prefix_room.h"
#include "front/prefix_reasons/volatile_heads.h"
#include "wire/messages.h"

namespace hearth::front {

// What people see of kept prompts. Pieces of prompts are in it: of findings the tokens that differ.
struct PrefixView {
  struct OfModel {
    std::string name;
    int live_tokens = 0;
    PrefixRoom::Stored stored;
    std::string not_restorable{};
    std::vector<wire::HeartbeatMessage::Slot> slots{};
  };
  PrefixRoom::Figures figures{};
  std::vector<OfModel> models{};
  std::vector<VolatileHead> findings{};  // with names in place of artifacts
  std::string modules = "[]";            // JSON
};

std::string to_json(const PrefixView& view);

// A list of objects, each with its remedy.
std::string to_json(const std::vector<VolatileHead>& findings);

}  // namespace hearth::front

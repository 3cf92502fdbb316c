// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/tokens.h"

namespace hearth::worker {

// What the choice of a slot looks at.
struct SlotView {
  bool busy = false;
  int cells = 0;   // tokens that the slot holds
  int common = 0;  // of these, at the beginning of the new prompt
  std::uint64_t last_used = 0;
};

// Tokens at the beginning of both.
int common_prefix(std::span<const engine::Token> a, std::span<const engine::Token> b);

// The free slot that saves most; among equals the one that loses least, then the one unused for
// longest. nullopt: all are busy.
std::optional<int> choose_slot(std::span<const SlotView> slots);

}  // namespace hearth::worker

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
  int common = 0;  // of these, at the beginning of the new prompt and of use to it
  std::uint64_t last_used = 0;
};

// Where a prompt goes, and which slot has its beginning: the same one when it goes on from there in
// place, another one when it shares that one's cells.
struct SlotChoice {
  int slot = 0;
  int source = 0;

  friend bool operator==(const SlotChoice&, const SlotChoice&) = default;
};

// Tokens at the beginning of both.
int common_prefix(std::span<const engine::Token> a, std::span<const engine::Token> b);

// The source saves most, whether or not it is busy; among equals it is the one that loses least in
// place, then the one unused for longest. A prompt takes the place of its source only where little
// would be lost, or where no other slot is free: a hit in one conversation does not cost another
// its state. nullopt: all are busy.
std::optional<SlotChoice> choose_slot(std::span<const SlotView> slots);

}  // namespace hearth::worker

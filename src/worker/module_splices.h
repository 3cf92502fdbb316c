// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/tokens.h"

namespace hearth::worker {

// Consecutive blocks of a text that was evaluated by itself, and where a prompt has the same
// tokens.
struct Splice {
  int position = 0;  // in the prompt
  int module = 0;    // index
  int block = 0;     // the first one of the text's
  int count = 0;

  friend bool operator==(const Splice&, const Splice&) = default;
};

// A text and how many of its first blocks are stored.
struct SpliceSource {
  std::span<const engine::Token> tokens;
  int blocks = 0;
};

// Where the prompt's tokens from `from` on are those of whole stored blocks, in ascending order and
// without overlaps; a run goes on as long as it can. Never the prompt's last token, which is
// evaluated in any case, and never a text's first block: its tokens, evaluated with nothing before
// them, become what all later ones rest their attention on, and a prompt should have that once, at
// its own beginning. Time: linear in prompt and texts.
std::vector<Splice> find_splices(std::span<const engine::Token> prompt,
                                 std::span<const SpliceSource> modules, int from);

}  // namespace hearth::worker

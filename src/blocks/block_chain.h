// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/sha256.h"

namespace hearth::blocks {

// Tokens in a block. A power of two that the engine's attention kernels work in, so that a prompt
// cut at a block's end is evaluated by the same computations (32 is not, 64 and its multiples are).
inline constexpr std::size_t kBlockTokens = 64;

// The end of what was evaluated is kept too where it is no whole block: a part, of at least so many
// tokens. Fewer cost about as much to fetch as to evaluate.
inline constexpr std::size_t kLeastPart = 8;

// Within what blocks may be taken for one another.
struct Domain {
  // All that changes the values: the model's content, engine, hardware, layout of the weights, KV
  // type, whether repeats are exact, and threads where they are.
  std::string_view fingerprint;
  std::string_view group;   // of keys that may know of each other's prompts
  std::string_view secret;  // of this installation: digests tell outsiders nothing
};

// Thread-safe, like all functions here.
Digest root_of(const Domain& domain);

// The name of the block that follows `parent`. `tokens` are its kBlockTokens tokens, or those of a
// part.
Digest digest_of(const Digest& parent, std::span<const std::int32_t> tokens);

// The names of all full blocks of `tokens`; what is left over has none.
std::vector<Digest> chain_of(const Digest& root, std::span<const std::int32_t> tokens);

}  // namespace hearth::blocks

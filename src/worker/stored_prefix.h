// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "blocks/block_chain.h"
#include "engine/tokens.h"
#include "wire/prefix_messages.h"

namespace hearth::worker {

// What is stored of a prompt, and where: from wire::PrefixPlanMessage and its descriptors. Does not
// change while anybody reads it.
struct StoredPrefix {
  struct Block {
    wire::BlockTier tier = wire::BlockTier::kArena;
    int slot = 0;  // kArena
    Fd file;       // kDisk
    Bytes size;    // of the record
    // So many of its tokens are the prompt's; fewer than the record may have, of the last one only.
    int tokens = static_cast<int>(blocks::kBlockTokens);
  };
  Digest root{};
  std::vector<engine::Token> tokens;  // the prompt's, at least those of all blocks
  std::vector<Block> blocks;          // of its first tokens, without a gap

  // How many tokens the blocks have.
  int covered() const {
    if (blocks.empty()) return 0;
    const auto whole = static_cast<int>((blocks.size() - 1) * hearth::blocks::kBlockTokens);
    return whole + blocks.back().tokens;
  }
};

}  // namespace hearth::worker

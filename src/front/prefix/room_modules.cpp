// SPDX-License-Identifier: Apache-2.0
//
// PrefixRoom and modules: blocks that stay because somebody gave their prompt a name.
#include <vector>

#include "blocks/block_chain.h"
#include "front/prefix/prefix_room_state.h"

namespace hearth::front {

PrefixRoom::Kept PrefixRoom::State::kept(const Use& use, std::span<const int> tokens) {
  Kept kept;
  bool in_memory = true;
  for (const Digest& digest : blocks::chain_of(domain(use)->root, tokens)) {
    in_memory = in_memory && memory_.find(digest) != nullptr;
    if (!in_memory && memory_.find(digest) == nullptr && disk_.find(digest) == nullptr) break;
    kept.anywhere += static_cast<int>(blocks::kBlockTokens);
    if (in_memory) kept.memory = kept.anywhere;
  }
  return kept;
}

PrefixRoom::Kept PrefixRoom::State::keep_module(const Use& use, std::span<const int> tokens,
                                                const std::string& module) {
  for (const Digest& digest : blocks::chain_of(domain(use)->root, tokens)) {
    memory_.set_module(digest, module);
    disk_.set_module(digest, module);
  }
  return kept(use, tokens);
}

void PrefixRoom::State::keep_modules(const std::function<bool(const std::string&)>& stays) {
  for (const Digest& digest : memory_.where([&](const MemoryBlocks::Block& block) {
         return !block.module.empty() && !stays(block.module);
       })) {
    memory_.set_module(digest, {});
  }
  std::vector<Digest> on_disk;
  for (const auto& [digest, block] : disk_.all()) {
    if (!block.module.empty() && !stays(block.module)) on_disk.push_back(digest);
  }
  for (const Digest& digest : on_disk) disk_.set_module(digest, {});
}

PrefixRoom::Kept PrefixRoom::kept(const Use& use, std::span<const int> tokens) const {
  return state_->kept(use, tokens);
}

PrefixRoom::Kept PrefixRoom::keep_module(const Use& use, std::span<const int> tokens,
                                         const std::string& module) {
  return state_->keep_module(use, tokens, module);
}

void PrefixRoom::keep_modules(const std::function<bool(const std::string&)>& stays) {
  state_->keep_modules(stays);
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
//
// PrefixRoom and texts that were evaluated alone, for use at other positions of prompts.
#include <algorithm>
#include <utility>

#include "blocks/block_chain.h"
#include "front/prefix/prefix_room_state.h"
#include "wire/frame.h"

namespace hearth::front {
namespace {

// A text's first block is never used elsewhere.
constexpr std::size_t kLeastBlocks = 2;

bool is_file(const wire::PrefixPlanMessage::Stored& stored) {
  return stored.tier == wire::BlockTier::kDisk;
}

}  // namespace

void PrefixRoom::State::look_up_texts(Plan& plan) {
  const Use& use = plan.ask.use;
  if (use.options.exact || !use.ready.not_restorable.empty()) return;
  std::size_t files = 0;
  for (const std::vector<int>& tokens : plan.ask.texts) {
    Text text = text_of(plan, tokens);
    std::size_t blocks = 0;
    for (; blocks < text.stored.size(); ++blocks) {
      if (is_file(text.stored[blocks]) && ++files > wire::kMaxDescriptors) break;
    }
    cut(text, blocks);
    if (text.stored.size() < kLeastBlocks) continue;
    for (std::size_t i = 0; i < blocks; ++i) {
      if (is_file(text.stored[i])) continue;
      text.holds.push_back(memory_.hold(text.chain[i]));
      text.stored[i].place = text.holds.back().slot;
    }
    plan.texts.push_back(std::move(text));
  }
}

PrefixRoom::State::Text PrefixRoom::State::text_of(const Plan& plan, std::span<const int> tokens) {
  Text text;
  text.tokens.assign(tokens.begin(), tokens.end());
  text.chain = blocks::chain_of(plan.domain->root, tokens);
  memory_.note_use(text.chain);
  disk_.note_use(text.chain);
  const MemoryBlocks::Room* room = memory_.room(plan.ask.use.artifact);
  for (const Digest& digest : text.chain) {
    const MemoryBlocks::Block* here = memory_.find(digest);
    const bool readable = here != nullptr && here->room == room && room->lent;
    const DiskBlocks::Block* there = readable ? nullptr : disk_.find(digest);
    if (!readable && there == nullptr) break;
    const auto tier = readable ? wire::BlockTier::kArena : wire::BlockTier::kDisk;
    text.stored.push_back({tier, 0, readable ? here->size : there->size});
  }
  return text;
}

void PrefixRoom::State::cut(Text& text, std::size_t blocks) {
  text.stored.resize(blocks);
  text.chain.resize(blocks);
  text.tokens.resize(blocks * blocks::kBlockTokens);
}

Task<void> PrefixRoom::State::open_text_files(std::uint64_t request, std::uint64_t serial) {
  Plan* plan = plan_of(request, serial);
  for (std::size_t i = 0; plan != nullptr && i < plan->texts.size(); ++i) {
    std::vector<Digest> wanted;
    for (std::size_t block = 0; block < plan->texts[i].stored.size(); ++block) {
      if (is_file(plan->texts[i].stored[block])) wanted.push_back(plan->texts[i].chain[block]);
    }
    if (wanted.empty()) continue;
    std::vector<Fd> files = co_await disk_.open_files(std::move(wanted));
    plan = plan_of(request, serial);
    if (plan == nullptr || i >= plan->texts.size()) co_return;
    Text& text = plan->texts[i];
    std::size_t left = files.size();
    std::size_t blocks = 0;
    for (; blocks < text.stored.size(); ++blocks) {
      if (is_file(text.stored[blocks]) && left-- == 0) break;
    }
    cut(text, blocks);
    text.files = std::move(files);
  }
}

void PrefixRoom::State::add_texts(Plan& plan, wire::PrefixPlanMessage& message,
                                  std::vector<Fd>& descriptors) {
  for (Text& text : plan.texts) {
    auto file = text.files.begin();
    for (wire::PrefixPlanMessage::Stored& stored : text.stored) {
      if (!is_file(stored)) continue;
      stored.place = static_cast<int>(descriptors.size());
      descriptors.push_back(std::move(*file++));
    }
    text.files.clear();
    if (text.stored.size() >= kLeastBlocks) message.modules.push_back({text.tokens, text.stored});
  }
}

}  // namespace hearth::front

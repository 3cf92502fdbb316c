// SPDX-License-Identifier: Apache-2.0
#include "worker/module_load.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/log.h"
#include "blocks/block_chain.h"

namespace hearth::worker {
namespace {

constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
constexpr std::size_t kReadAhead = 2;  // runs that are being read: each has threads and memory
constexpr int kAll = std::numeric_limits<int>::max();

std::vector<Splice> splices_of(const PrefixWork& work, int from) {
  std::vector<SpliceSource> sources;
  for (const StoredPrefix& module : work.modules) {
    sources.push_back({module.tokens, static_cast<int>(module.blocks.size())});
  }
  return find_splices(work.stored.tokens, sources, from);
}

}  // namespace

ModuleLoad::ModuleLoad(const PrefixWork& work, int slot, int from,
                       std::function<void()> on_progress)
    : work_{work}, slot_{slot}, on_progress_{std::move(on_progress)} {
  for (const Splice& splice : splices_of(work, from)) runs_.push_back({splice, nullptr});
  exact_ = evaluate_up_to();
  begin_reading();
}

void ModuleLoad::begin_reading() {
  for (std::size_t i = 0; i < std::min(kReadAhead, runs_.size()); ++i) {
    Run& run = runs_[i];
    if (run.reader) continue;
    const StoredPrefix& module = work_.modules[static_cast<std::size_t>(run.splice.module)];
    const int first = run.splice.block;
    const int last = first + run.splice.count;
    // No windows: models that have one do not come here.
    const BlockReader::Range range{first, last, BlockReader::Direction::kFromFront, last};
    run.reader = std::make_unique<BlockReader>(work_.arena.get(), module, range, on_progress_);
  }
}

void ModuleLoad::advance(KvRoom& room) {
  // What came exactly reaches further than was foreseen.
  while (!runs_.empty() && loaded_ == 0 && runs_.front().splice.position < room.used(slot_)) {
    end_run();
  }
  while (!runs_.empty() && evaluate_up_to() == room.used(slot_)) {
    BlockReader& reader = *runs_.front().reader;
    if (auto block = reader.take()) {
      put(room, *block);
      continue;
    }
    if (!reader.finished()) return;
    if (const auto refused = reader.refused()) {
      log::warn("prefix.module_refused", {{"block", refused->index}, {"reason", refused->reason}});
    }
    end_run();
  }
}

void ModuleLoad::put(KvRoom& room, const BlockReader::Block& block) {
  const int first = block.index * kBlock;
  const int shift = evaluate_up_to() - first;
  const auto put = room.context().load_shifted_block(slot_, first, kBlock, shift, block.base);
  if (!put) {
    log::warn("prefix.module_refused", {{"block", block.index}, {"reason", put.error().message()}});
    return end_run();
  }
  room.append_approximate(slot_, kBlock);
  tokens_ += kBlock;
  ++loaded_;
}

void ModuleLoad::end_run() {
  if (const BlockReader* reader = runs_.front().reader.get()) {
    arena_bytes_ += reader->read_from(wire::BlockTier::kArena);
    disk_bytes_ += reader->read_from(wire::BlockTier::kDisk);
  }
  runs_.pop_front();
  loaded_ = 0;
  if (tokens_ == 0) exact_ = evaluate_up_to();
  begin_reading();
}

bool ModuleLoad::waiting(int evaluated) const {
  return !runs_.empty() && evaluated == evaluate_up_to() && !runs_.front().reader->finished();
}

int ModuleLoad::evaluate_up_to() const {
  return runs_.empty() ? kAll : runs_.front().splice.position + loaded_ * kBlock;
}

void ModuleLoad::tell(wire::PrefixOutcome& outcome) {
  outcome.shifted = tokens_;
  outcome.arena_bytes += std::exchange(arena_bytes_, {});
  outcome.disk_bytes += std::exchange(disk_bytes_, {});
}

}  // namespace hearth::worker

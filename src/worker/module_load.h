// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "wire/prefix_messages.h"
#include "worker/block_reader.h"
#include "worker/kv_room.h"
#include "worker/module_splices.h"
#include "worker/prefix_work.h"

namespace hearth::worker {

// Puts blocks of texts that were evaluated by themselves into one sequence's cells when it has been
// evaluated up to where its prompt has them: an approximation, for they know nothing of what the
// prompt has before them. They are read meanwhile; one that cannot be used is evaluated with the
// rest of its text. Belongs to the inference thread.
class ModuleLoad {
 public:
  // `work` outlives this object. `from`: what the prompt has before it comes exactly.
  // `on_progress`: see BlockReader.
  ModuleLoad(const PrefixWork& work, int slot, int from, std::function<void()> on_progress);

  // Takes in what has been read for the place where the sequence is.
  void advance(KvRoom& room);

  // The sequence stands where blocks belong that are still being read.
  bool waiting(int evaluated) const;
  // How far it may be evaluated by itself.
  int evaluate_up_to() const;
  // So many of the prompt's first tokens are exact, or will be.
  int exact() const { return exact_; }

  // Adds what came since it was called last.
  void tell(wire::PrefixOutcome& outcome);

 private:
  struct Run {
    Splice splice;
    std::unique_ptr<BlockReader> reader;  // null: not begun
  };
  void begin_reading();
  void end_run();
  void put(KvRoom& room, const BlockReader::Block& block);

  const PrefixWork& work_;
  const int slot_;
  const std::function<void()> on_progress_;
  std::deque<Run> runs_;  // that are not over, in the prompt's order
  int exact_;
  int loaded_ = 0;  // of the first run, blocks
  int tokens_ = 0;
  Bytes arena_bytes_, disk_bytes_;  // of runs that are over, not told of
};

}  // namespace hearth::worker

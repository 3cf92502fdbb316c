// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/stage.h"
#include "engine/context.h"
#include "wire/prefix_messages.h"
#include "worker/block_reader.h"
#include "worker/kv_room.h"
#include "worker/prefix_work.h"

namespace hearth::worker {

// Brings one sequence's stored blocks into its cells while they are read. Belongs to the inference
// thread.
//
// From the front each block goes into cells as it comes. Both ways, the sequence evaluates its
// prompt from the front while blocks are read from the back and held, until the two meet: the
// engine evaluates nothing before what a sequence already holds, so they go into cells then (Cake,
// arXiv 2410.03065, has the idea; which of the two ways is faster the front knows by what it
// measured).
class Restore {
 public:
  struct Range {
    int slot = 0;
    int first = 0;   // block; everything before it is in the slot's cells
    int tokens = 0;  // of the prompt, from its first one on, that are wanted; more than first's
    int window = 0;  // the model's sliding window, in tokens; 0: it has none

    int last() const;  // blocks first .. last-1 are read
  };
  // `work` outlives this object. `on_progress`: see BlockReader.
  Restore(PrefixWork& work, Range range, std::function<void()> on_progress);

  // Takes in what has been read. Returns how many tokens that put into cells.
  int advance(KvRoom& room);

  bool done() const { return done_; }
  // Nothing can be done for this sequence until more has been read.
  bool waiting(int evaluated) const;
  // How far the sequence may be evaluated meanwhile.
  int evaluate_up_to() const;
  // Cells that are needed for a moment beside the prompt's: a block goes into cells whole, and then
  // loses what is not the prompt's.
  int spare_cells() const;

  // Once done: adds what came from where.
  void tell(wire::PrefixOutcome& outcome) const;
  // From begin to end, with the bytes that were read.
  Stage stage() const;

 private:
  bool forward() const { return !both_ways_; }
  int take_forward(KvRoom& room);
  void take_backward(int evaluated);
  int splice(KvRoom& room);
  bool load(KvRoom& room, const BlockReader::Block& block);
  bool cut(KvRoom& room, int count);
  void refuse(int block, std::string reason);
  void end();

  PrefixWork& work_;
  const Range range_;
  const bool both_ways_;
  std::unique_ptr<BlockReader> reader_;
  std::vector<BlockReader::Block> held_;  // from the back on
  std::size_t held_bytes_ = 0;
  int lost_tokens_ = 0;  // that were in cells, and had to go with what could not be restored
  int arena_tokens_ = 0;
  int disk_tokens_ = 0;
  std::vector<wire::PrefixOutcome::Refused> refused_;
  bool met_ = false;  // what comes next from the back has been evaluated from the front
  bool done_ = false;
  TimePoint begin_, end_;
};

// Begins to read all that is stored: for a request whose model has no weights yet.
void begin_reading(PrefixWork& work, int window, std::function<void()> on_progress);

}  // namespace hearth::worker

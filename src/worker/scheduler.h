// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/abort_flags.h"
#include "engine/vocabulary.h"
#include "worker/chunk_size.h"
#include "worker/gauges.h"
#include "worker/kv_room.h"
#include "worker/replies.h"
#include "worker/request.h"
#include "worker/sequence.h"

namespace hearth::worker {

// Continuous batching: every step takes one token of each sequence that writes and a share of the
// prompts that are being read, in one call of the engine. Belongs to the inference thread.
class Scheduler {
 public:
  struct Parts {
    const engine::Vocabulary& vocabulary;
    KvRoom& room;
    Replies& replies;
    engine::AbortFlags& abort;
    Gauges& gauges;
  };
  enum class KeepPrefixes { kYes, kNo };
  Scheduler(Parts parts, KeepPrefixes keep);

  // Takes the request in, unless every slot is busy. `ready`: since when nothing but a slot was
  // missing.
  bool admit(const RequestPtr& request, TimePoint ready);

  bool idle() const { return active_.empty(); }

  // One call of the engine, and what comes of it.
  void step();

 private:
  struct Share {
    Sequence* sequence;
    int tokens;
    int logits = -1;  // the batch entry that has them
  };
  void finish_cancelled();
  std::vector<Share> plan();
  void fill_batch(std::vector<Share>& shares);
  engine::Decoded decode(const std::vector<Share>& shares);
  void take_results(const std::vector<Share>& shares);
  void take_broken(const std::vector<Share>& shares, engine::Decoded outcome);
  void grow_for(Sequence& sequence);
  int cells_needed() const;
  void remove(const Sequence* sequence, KvRoom::Reuse later);
  void end(Sequence& sequence);
  void fail(Sequence& sequence, const Error& error);
  CellFigures figures() const { return {parts_.room.live_tokens(), parts_.room.cells()}; }

  Parts parts_;
  const KeepPrefixes keep_;
  ChunkSize chunk_;
  std::vector<std::unique_ptr<Sequence>> active_;  // in the order of admission
};

}  // namespace hearth::worker

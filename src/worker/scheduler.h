// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/abort_flags.h"
#include "engine/cpu_threads.h"
#include "engine/vocabulary.h"
#include "worker/chunk_size.h"
#include "worker/cpu_share.h"
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
    CpuShare& cpu;
    engine::CpuThreads& threads;
  };
  enum class KeepPrefixes { kYes, kNo };
  // Exactly: each request is evaluated as if it were alone in the world, so that it gets the same
  // bits whenever it comes: one at a time, from its first token on, with nothing left of others in
  // the cells.
  enum class Repeats { kAnyhow, kExactly };
  struct How {
    KeepPrefixes keep = KeepPrefixes::kYes;
    Repeats repeats = Repeats::kAnyhow;
  };
  Scheduler(Parts parts, How how);

  // Takes the request in, unless every slot is busy, or exact repeats forbid company. `ready`:
  // since when nothing but a slot was missing.
  bool admit(const RequestPtr& request, TimePoint ready);

  // Every request in hand ends with this error.
  void fail_all(const Error& error);

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
  static StepKind kind_of(const std::vector<Share>& shares);
  void fill_batch(std::vector<Share>& shares);
  engine::Decoded decode(const std::vector<Share>& shares);
  void take_results(const std::vector<Share>& shares);
  void take_broken(const std::vector<Share>& shares, engine::Decoded outcome);
  void grow_for(Sequence& sequence);
  int cells_needed() const;
  void remove(const Sequence* sequence, KvRoom::Reuse later);
  KvRoom::Reuse kept(KvRoom::Reuse wish) const;
  void end(Sequence& sequence);
  void fail(Sequence& sequence, const Error& error);
  CellFigures figures() const { return {parts_.room.live_tokens(), parts_.room.cells()}; }

  Parts parts_;
  const How how_;
  ChunkSize chunk_;
  std::vector<std::unique_ptr<Sequence>> active_;  // in the order of admission
};

// What a model's options ask for.
Scheduler::How scheduling_of(const wire::LoadOptions& options);

}  // namespace hearth::worker

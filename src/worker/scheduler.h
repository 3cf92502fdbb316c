// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
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
#include "worker/module_load.h"
#include "worker/prefix_keeping.h"
#include "worker/replies.h"
#include "worker/request.h"
#include "worker/restore.h"
#include "worker/sequence.h"

namespace hearth::worker {

// Continuous batching: every step takes one token of each sequence that writes and a share of the
// prompts that are being read, in one call of the engine. Belongs to the inference thread.
//
// What a prompt begins with is taken from where it is had soonest: from cells of another sequence,
// from stored blocks, or, where another prompt that is being read begins alike, from that one as
// soon as it has got so far: a common beginning is evaluated once. Texts further on that were
// evaluated by themselves are put in between where the front says so; what follows is approximate
// then, and nobody else's.
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
    PrefixKeeping& keeping;
    int window = 0;  // the model's sliding window, in tokens
    // Called on another thread when a sequence that waited for stored blocks can go on.
    std::function<void()> wake = [] {};
  };
  enum class KeepPrefixes { kYes, kNo };
  // Exactly: each request is evaluated as if it were alone in the world, so that it gets the same
  // bits whenever it comes: one at a time, with nothing left of others in the cells. What it uses
  // again are whole micro-batches of prompts, which are evaluated by the same computations wherever
  // they are.
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
  // False: all that is in hand waits for blocks that are being read.
  bool can_step() const;

  // One call of the engine, and what comes of it.
  void step();

  // Ends what is cancelled; step() does it too.
  void finish_cancelled();

 private:
  struct Active {
    std::unique_ptr<Sequence> sequence;
    // Before it computes by itself:
    std::unique_ptr<Restore> restore;     // stored blocks are on their way
    std::unique_ptr<ModuleLoad> modules;  // texts at other positions, after all that is exact
    const Sequence* leader = nullptr;     // reads the same prompt up to `common`
    int common = 0;
    TimePoint follows_since;
  };
  struct Share {
    Sequence* sequence;
    int tokens;
    int logits = -1;  // the batch entry that has them
  };
  // How a prompt gets its beginning.
  KvRoom::Wish wish_of(const Request& request) const;
  void begin_prefix(Active& active);
  int stored_tokens(const Request& request) const;
  const Active* best_leader(const Active& follower, int& common) const;
  void begin_restore(Active& active, int tokens);
  void advance_prefixes();
  void advance_restore(Active& active);
  bool may_shift(const Request& request) const;
  void advance_modules(Active& active);
  void keep_whole_batches(Sequence& sequence);
  void end_following(Active& active);
  void leave_leader(const Sequence& leader);
  bool waits(const Active& active) const;

  Demand demand_of(const Active& active) const;
  std::vector<Share> plan();
  static StepKind kind_of(const std::vector<Share>& shares);
  void fill_batch(std::vector<Share>& shares);
  engine::Decoded decode(const std::vector<Share>& shares);
  void take_results(const std::vector<Share>& shares);
  void take_broken(const std::vector<Share>& shares, engine::Decoded outcome);
  void grow_for(Sequence& sequence);
  int more_cells() const;
  void release(const Sequence& sequence, KvRoom::Reuse later);
  void forget(const Sequence& sequence);
  KvRoom::Reuse kept(KvRoom::Reuse wish) const;
  int granule() const;
  int keepable(const Sequence& sequence) const;
  void end(Sequence& sequence);
  void fail(Sequence& sequence, const Error& error);
  CellFigures figures() const { return {parts_.room.live_tokens(), parts_.room.cells()}; }

  Parts parts_;
  const How how_;
  ChunkSize chunk_;
  std::vector<Active> active_;  // in the order of admission
};

// What a model's options ask for.
Scheduler::How scheduling_of(const wire::LoadOptions& options);

}  // namespace hearth::worker

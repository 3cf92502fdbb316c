// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "engine/abort_flags.h"
#include "engine/cpu_threads.h"
#include "engine/embedder.h"
#include "engine/model.h"
#include "wire/messages.h"
#include "worker/cpu_share.h"
#include "worker/gauges.h"
#include "worker/kv_room.h"
#include "worker/load_flags.h"
#include "worker/load_report.h"
#include "worker/opened_model.h"
#include "worker/prefix_keeping.h"
#include "worker/replies.h"
#include "worker/scheduler.h"
#include "worker/stored_repack.h"
#include "worker/weight_readers.h"

namespace hearth::worker {

// A model with its weights, or with readers that bring them, and all that computes with them.
// Belongs to the inference thread.
class LoadedModel {
 public:
  struct Around {
    Replies& replies;
    engine::AbortFlags& abort;
    Gauges& gauges;
    CpuShare& cpu;
    // Both are called on other threads: the inference thread has something to look at, and a block
    // was written, which PrefixKeeping::note_kept() is to be told.
    std::function<void()> wake = [] {};
    BlockKeeper::OnKept on_kept = [](const BlockKeeper::Kept&) {};
  };
  struct Load {
    std::uint64_t frame = 0;  // of the kLoad frame
    wire::LoadMessage message;
    std::optional<Fd> stored;  // a stored repack
    int prompt = 0;            // tokens that are waiting for this load
    // Called on a reader's thread when weights will not come after all; never for a load that has
    // been told as done.
    std::function<void(Error)> on_failed;
  };

  // A model that can be computed with at once: evaluations wait for the weights that they reach.
  // Progress and kLoaded are sent as it goes. Where the engine knows no such thing, it returns when
  // everything is there. `flags` may end it early. Errors: kCancelled, kCorrupt, kNoSpace,
  // kUnavailable (an I/O error).
  static Result<std::unique_ptr<LoadedModel>> load(const OpenedModel& opened, Around around,
                                                   Load load, const LoadFlags& flags);
  ~LoadedModel();

  // Weights that nobody waited for are waited for now.
  void hurry() {
    if (readers_) readers_->hurry();
  }

  // Since when nothing but the weights was missing.
  TimePoint ready() const { return ready_; }

  Scheduler& scheduler() { return *scheduler_; }
  const Scheduler& scheduler() const { return *scheduler_; }
  PrefixKeeping& keeping() { return *keeping_; }
  const PrefixKeeping& keeping() const { return *keeping_; }
  Gauges::Slots slots() const;
  // See InferenceThread::forget_cells().
  void forget_cells();

  // Errors: as Embedder's.
  Result<engine::Embedder*> embedder();

  // A reader hangs in the kernel: this object cannot be destroyed.
  bool stuck() const { return readers_ && readers_->stuck(); }

  int live_tokens() const { return room_ ? room_->live_tokens() : 0; }

  // Begins to write the repacked weights. Errors: kConflict (there are none, or it is under way).
  Result<> store(std::string content, Fd file, RepackStore::OnStored on_stored);
  // Computes with the stored file from now on, in place of memory of its own.
  void adopt(const RepackStore::Stored& stored);

 private:
  LoadedModel(const OpenedModel& opened, Around around, engine::Model model,
              std::unique_ptr<LoadReport> report);
  static Result<engine::Model> make(const OpenedModel& opened, const Load& load,
                                    WeightReaders::Plan& plan, std::string& refused);
  Result<> stream(Load& load, WeightReaders::Plan plan, std::string refused, Stage made,
                  const LoadFlags& flags);
  static Result<std::unique_ptr<LoadedModel>> plain(const OpenedModel& opened, Around around,
                                                    const Load& load, const LoadFlags& flags);
  void start_readers(WeightReaders::Plan plan, std::string refused, const Load& load,
                     const LoadFlags& flags);
  void weights_came(const std::string& refused);
  Result<> finish_context(int prompt, Stage load);
  Result<engine::MemoryUse> open_room(int prompt);
  wire::MemoryUse memory_use(const engine::MemoryUse& use) const;
  void note_places();

  const OpenedModel& opened_;
  Around around_;
  std::unique_ptr<LoadReport> report_;
  engine::Model model_;
  engine::CpuThreads threads_;
  std::unique_ptr<KvRoom> room_;            // null for an embedding model
  std::unique_ptr<PrefixKeeping> keeping_;  // likewise
  std::unique_ptr<Scheduler> scheduler_;    // likewise
  std::unique_ptr<engine::Embedder> embedder_;
  TimePoint ready_;
  wire::MemoryUse places_;                  // of the weights alone, as the load began
  std::optional<Fd> stored_file_;           // as long as readers read it
  std::unique_ptr<WeightReaders> readers_;  // null after a plain load
  std::unique_ptr<RepackStore> storing_;
};

}  // namespace hearth::worker

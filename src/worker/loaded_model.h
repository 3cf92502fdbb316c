// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/abort_flags.h"
#include "engine/cpu_threads.h"
#include "engine/embedder.h"
#include "engine/model.h"
#include "wire/messages.h"
#include "worker/cpu_share.h"
#include "worker/gauges.h"
#include "worker/kv_room.h"
#include "worker/opened_model.h"
#include "worker/replies.h"
#include "worker/scheduler.h"

namespace hearth::worker {

// A model with its weights and all that computes with them. Belongs to the inference thread.
class LoadedModel {
 public:
  struct Around {
    Replies& replies;
    engine::AbortFlags& abort;
    Gauges& gauges;
    CpuShare& cpu;
  };
  struct Outcome;

  // Reads what is missing of the file, loads it, makes a context with room for `prompt` tokens, and
  // tells the front meanwhile, under the number of the kLoad frame. Errors: kCancelled, kCorrupt,
  // kNoSpace, kUnavailable (an I/O error).
  static Result<Outcome> load(const OpenedModel& opened, Around around, std::uint64_t frame,
                              int prompt);

  Scheduler& scheduler() { return *scheduler_; }

  // Errors: as Embedder's.
  Result<engine::Embedder*> embedder();

  int live_tokens() const { return room_ ? room_->live_tokens() : 0; }

 private:
  LoadedModel(const OpenedModel& opened, Around around, engine::Model model);
  Result<engine::MemoryUse> open_room(int prompt);

  const OpenedModel& opened_;
  Around around_;
  engine::Model model_;
  engine::CpuThreads threads_;
  std::unique_ptr<KvRoom> room_;  // null for an embedding model
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<engine::Embedder> embedder_;
};

struct LoadedModel::Outcome {
  std::unique_ptr<LoadedModel> model;
  wire::LoadedMessage message;
};

}  // namespace hearth::worker

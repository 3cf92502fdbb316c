// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/async.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "layers/layer.h"

namespace hearth {

enum class WorkerLevel { kNone, kHollow, kLoading, kResident };

std::string_view name_of(WorkerLevel level);  // "none", "hollow", "loading", "resident"

// What a worker's memory is used for, as it reported last.
struct WorkerMemory {
  Bytes weights;   // mapped or copied
  Bytes repacked;  // of these, in a layout made at load
  Bytes kv;
  Bytes compute;
};

// One model's worker, as far as the layers care.
struct WorkerState {
  WorkerLevel level = WorkerLevel::kNone;
  double loading_fraction = 0;  // 0..1 while loading
  Duration uptime{};
  WorkerMemory memory;
  std::int64_t live_tokens = 0;  // in KV cells that a later prompt could use
};

// The worker processes, seen from below: the front has them. Belongs to the loop.
class Workers {
 public:
  virtual ~Workers() = default;

  // nullopt when there is no worker for it. Never blocks.
  virtual std::optional<WorkerState> state(const Subject& subject) const = 0;

  // Makes the weights resident, spawning a worker where there is none; joins a load that is under
  // way. Errors: kNotFound, kCorrupt, kNoSpace, kCancelled, kUnavailable.
  virtual Task<Result<>> load(Subject subject, Progress& progress) = 0;

  // Makes the worker hollow after what it is doing; the bytes given back.
  virtual Task<Result<Bytes>> unload(Subject subject) = 0;
};

}  // namespace hearth

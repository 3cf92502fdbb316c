// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>

#include "base/clock.h"
#include "engine/cpu_threads.h"
#include "wire/messages.h"
#include "worker/free_cpu.h"
#include "worker/gauges.h"
#include "worker/thread_policy.h"

namespace hearth::worker {

// Which part of the machine's CPUs this worker's evaluation takes: as many threads as there are
// CPUs free, or always the same number with LoadOptions::exact. Thread-safe, but for what is said
// below.
class CpuShare {
 public:
  explicit CpuShare(Gauges& gauges) : gauges_{gauges} {}

  // Once, before the weights.
  void configure(const wire::LoadOptions& options);

  // Twice a second, from any thread: keeps what is known of the neighbours fresh while nothing is
  // evaluated.
  void look();

  // Before each step, from the thread that computes. The first time it also gets its priority,
  // with the engine's threads.
  void before_step(engine::CpuThreads& threads, StepKind kind);

 private:
  void read();
  bool is_alone() const;
  void apply_nice(const engine::CpuThreads& threads);

  Gauges& gauges_;
  std::mutex mutex_;  // the members below
  wire::LoadOptions options_;
  CpuMeter meter_;
  std::optional<ThreadPolicy> policy_;  // none: the count is fixed
  TimePoint read_at_;
  TimePoint stepped_at_;
  int running_ = 0;
  std::optional<int> nice_;  // that was applied
};

// At most so many threads evaluate a model that is loaded with these options.
int most_threads(const wire::LoadOptions& options);

}  // namespace hearth::worker

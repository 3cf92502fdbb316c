// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "engine/cpu_threads.h"
#include "wire/messages.h"
#include "worker/free_cpu.h"
#include "worker/gauges.h"
#include "worker/give_way.h"
#include "worker/thread_policy.h"

namespace hearth::worker {

// Which part of the machine's CPUs this worker's evaluation takes: as many threads as there are
// CPUs free, or always the same number with LoadOptions::exact; less of both threads and time where
// the front asks to give way, and then only what other programs leave, where the system lets a
// thread come back from that. Thread-safe, but for what is said below.
class CpuShare {
 public:
  explicit CpuShare(Gauges& gauges) : gauges_{gauges} {}

  // Once, before the weights.
  void configure(const wire::LoadOptions& options);

  // From the next step on, until it comes again. With LoadOptions::exact the number of threads
  // stays as it is, for it changes results; time is given all the same.
  void give_way(const wire::GiveWayMessage& message);

  // Twice a second, from any thread: keeps what is known of the neighbours fresh while nothing is
  // evaluated.
  void look();

  // Before each step, from the thread that computes. The first time it also gets its priority,
  // with the engine's threads.
  void before_step(engine::CpuThreads& threads, StepKind kind);

  // After it, and when the next one may begin: in the past, unless way is given.
  void worked(TimePoint begin, TimePoint end);
  TimePoint rest_until();
  // Steps should be short, for there is a rest after each.
  bool rests();

 private:
  void choose(engine::CpuThreads& threads, StepKind kind);
  void read();
  bool is_alone() const;
  void apply_nice(const engine::CpuThreads& threads);
  // How a thread stands to those of other programs.
  enum class Way {
    kBeside,  // as any
    kBehind,  // whoever is woken goes first; its priority is as before
    kIdle,    // likewise, and it counts as of the lowest priority
  };
  Way way();
  void apply_way(const engine::CpuThreads& threads);
  int count_of(StepKind kind) const;

  Gauges& gauges_;
  std::mutex mutex_;  // the members below
  wire::LoadOptions options_;
  CpuMeter meter_;
  std::optional<ThreadPolicy> policy_;  // none: the count is fixed
  TimePoint read_at_;
  TimePoint stepped_at_;
  int running_ = 0;
  std::optional<int> nice_;    // that was applied
  int most_given_ = 0;         // threads; 0: no bound
  bool crowded_ = false;       // they want more than that
  bool behind_ = false;        // asked to go behind others while these want little
  std::map<pid_t, Way> ways_;  // of threads that are not beside others
  DutyCycle cycle_;
};

// At most so many threads evaluate a model that is loaded with these options.
int most_threads(const wire::LoadOptions& options);

}  // namespace hearth::worker

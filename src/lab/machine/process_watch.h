// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lab/machine/machine.h"
#include "lab/machine/machine_load.h"
#include "lab/machine/processes.h"

namespace hearth::lab {

// A process between two looks at it.
struct SeenProcess {
  bool was_there = false;  // at the beginning
  bool is_gone = false;    // at the end
  ProcessFigures first;
  ProcessFigures last;
};

// By all of them from devices; nullopt where the kernel does not tell of one. The kernel adds what
// a process has read in all its life to its parent's figure when that reaps it: it is counted once,
// and what it had read before the beginning is not.
std::optional<Bytes> bytes_read_by(const std::map<pid_t, SeenProcess>& seen);

// The real EffectsMeter: a thread of its own looks at the server's processes again and again, so
// that the memory's peak is seen, and what a process did that has ended meanwhile is not lost.
class ProcessWatch : public EffectsMeter {
 public:
  explicit ProcessWatch(Machine::Processes processes);
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;
  ~ProcessWatch() override = default;

  // Ends the watching; what is asked later stays the same.
  Effects read() override;

 private:
  void sample(std::stop_token stop);
  void look(const std::vector<pid_t>& processes);
  void add_peak();
  std::vector<pid_t> known() const;
  Effects sum() const;

  Machine::Processes processes_;
  MachineLoad before_;
  std::uint64_t oldest_ticks_ = 0;     // who was started before is not the trial's
  std::map<pid_t, SeenProcess> seen_;  // the sampler's, until it has ended
  Bytes peak_;
  std::optional<Effects> result_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread sampler_;  // the last member: it uses all others
};

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace hearth::worker {

// What the kernel has counted up to a moment, in CPU time. Differences of two tell who had the
// CPUs.
struct CpuReading {
  TimePoint at;
  Duration busy{};   // everybody's work on the CPUs that this process may use, and what a
                     // hypervisor took
  Duration niced{};  // of it, work of low priority
  Duration own{};    // this process
  // The evaluation threads: on a CPU; ready, but without one. Absent where it cannot be read.
  struct Threads {
    Duration ran{};
    Duration waited{};
  };
  std::optional<Threads> threads;
  // What a cgroup grants, in CPUs, and what all its processes have used; absent without a limit.
  struct Quota {
    double cpus = 0;
    Duration used{};
  };
  std::optional<Quota> quota;
};

// Takes the readings. Not thread-safe.
class CpuMeter {
 public:
  struct Roots {
    std::string proc = "/proc";
    std::string cgroup = "/sys/fs/cgroup";
  };
  CpuMeter() : CpuMeter(Roots{}) {}
  explicit CpuMeter(Roots roots);

  // Whose running and waiting is counted from now on; what was counted before stays counted.
  void watch(const std::vector<pid_t>& threads);

  // Some hundred microseconds on a large machine.
  CpuReading read();

  // Threads of the whole machine that run or want to at this moment, the caller among them; at
  // least 1. 1 also where it cannot be read.
  int runnable() const;

 private:
  // Of one thread, since it began.
  std::optional<CpuReading::Threads> times_of(pid_t thread) const;
  std::optional<CpuReading::Threads> read_threads();
  std::optional<CpuReading::Quota> read_quota();

  Roots roots_;
  cpu_set_t allowed_;
  std::map<pid_t, CpuReading::Threads> watched_;  // with what was counted last
  CpuReading::Threads sum_;
};

// For tests: /proc/stat's lines of the CPUs in `allowed`, in ticks of 10 ms.
struct BusyTimes {
  Duration busy{};
  Duration niced{};
};
BusyTimes busy_times(std::string_view stat, const cpu_set_t& allowed);

// "cpu.max" of a cgroup: CPUs, nothing for "max".
std::optional<double> parse_cpu_max(std::string_view text);

}  // namespace hearth::worker

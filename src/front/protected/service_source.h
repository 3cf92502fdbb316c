// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "front/config/protected_options.h"

namespace hearth::front {

// Where the kernel tells of processes and control groups.
struct ServiceRoots {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

// What was counted of a service since its source was made. Never less than before, whichever of its
// processes come and go.
struct ServiceCounts {
  // Its tasks, in sum: waiting for a processor, and how often they then ran.
  struct Runs {
    Duration waited{};
    std::uint64_t times = 0;
  };
  std::optional<Runs> runs;
  // How long some task of it waited, for each resource.
  std::optional<Duration> cpu, memory, io;
};

// Reads one service's counts. Not thread-safe, but may be used on one thread after the other;
// procfs and cgroup files never wait for a device, though a large machine's take milliseconds.
class ServiceSource {
 public:
  enum class State { kThere, kGone, kUnreadable };
  struct Reading {
    State state = State::kGone;
    ServiceCounts counts;
  };

  virtual ~ServiceSource() = default;
  virtual Reading read() = 0;
};

// By the name of its program, as /proc/PID/comm or the last part of /proc/PID/exe have it: all
// processes of that name, this one apart. Their control group's waits too, where it is not also
// ours. They are looked for again when one of them has gone, and every ten readings.
std::unique_ptr<ServiceSource> process_source(const std::string& name, const ServiceRoots& roots);

// By its control group (version 2).
std::unique_ptr<ServiceSource> cgroup_source(const std::string& path, const ServiceRoots& roots);

}  // namespace hearth::front

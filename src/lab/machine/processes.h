// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace hearth::lab {

// What /proc says of one process. Zombies count as gone.
struct ProcessFigures {
  std::uint64_t start_ticks = 0;  // since boot; tells two users of one pid apart
  pid_t parent = 0;
  Bytes resident;  // VmRSS and its parts
  Bytes anonymous;
  Bytes file_backed;
  Bytes locked;
  Bytes peak;                       // VmHWM: of `resident`, since it was started
  std::optional<Bytes> bytes_read;  // from devices; unset: the kernel does not let us look
  std::int64_t major_faults = 0;
  std::int64_t minor_faults = 0;
  double processor_s = 0;
};

// nullopt: there is none (any more).
std::optional<ProcessFigures> figures_of(pid_t pid);

// VmRSS alone, which costs little.
Bytes resident_of(pid_t pid);

// The process and all that descend from it, parents first; empty when it is gone. Looks at every
// process of the machine: some milliseconds.
std::vector<pid_t> process_tree(pid_t root);

// Direct children, without looking at the whole machine; what forks meanwhile may be missed.
std::vector<pid_t> children_of(pid_t pid);

// As Undo::detail of kEndProcess wants it; empty when there is no such process.
std::string start_time_of(pid_t pid);

// Seconds since it was started.
std::optional<double> age_of(pid_t pid);

// Whether the process maps the file (an absolute path without links). False where we may not look.
bool maps_file(pid_t pid, const std::string& path);

// Who maps the file, of those we may look at, for people: "4711 (llama-server)".
std::vector<std::string> who_maps(const std::string& path);

// By SIGTERM to it and its process group (where it leads one), after `grace` by SIGKILL; returns
// when it is gone. False: it is somebody else by now (`start_time` differs), or could not be ended.
bool end_process(pid_t pid, const std::string& start_time, std::chrono::milliseconds grace);

}  // namespace hearth::lab

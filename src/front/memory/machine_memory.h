// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "front/memory/cgroup_memory.h"

namespace hearth::front {

// Percent of the last ten seconds in which something ("some") or everything ("full") waited.
struct PressureFigures {
  std::optional<double> some_avg10;
  std::optional<double> full_avg10;
  std::optional<double> some_avg300 = {};  // of the last five minutes
};

// Out of a pressure file's text; what is missing or no number stays absent.
PressureFigures pressure_in(std::string_view text);

// What memory there is at one moment, as far as the kernel tells: each figure may be absent.
struct MachineMemory {
  std::optional<Bytes> total;
  std::optional<Bytes> free;       // used for nothing at all
  std::optional<Bytes> available;  // free, or given back at once when wanted: mostly page cache
  std::optional<Bytes> of_files;   // page cache of files, without shared memory
  std::optional<Bytes> swap_used;
  std::optional<CgroupMemory> cgroup;  // of this process; nullopt: no limit around it
  PressureFigures memory_pressure;     // the machine's
  std::optional<double> cpu_some_avg10;
  TimePoint at{};

  // The larger of the machine's and the cgroup's pressure.
  double memory_some_avg10() const;
  double memory_full_avg10() const;
  // What may still be taken: the machine's available memory, or the cgroup's room if that is less.
  std::optional<Bytes> room() const;
};

// The figures of /proc/meminfo; `cgroup`, pressure and time are left as they are.
MachineMemory memory_in(std::string_view meminfo);

// Reads the figures again and again. Whatever is missing, odd or forbidden leaves its figure
// absent; nothing is an error.
//
// read() opens about ten small files of procfs and the cgroup file system, which wait for no
// device: about a tenth of a millisecond, fit for the event loop. Not thread-safe.
class MachineMemoryReader {
 public:
  // `root` goes before every path: "" for the real machine, a directory of their own in tests.
  // `clock` outlives the reader.
  MachineMemoryReader(std::string root, const Clock& clock);

  MachineMemory read();

 private:
  std::string root_;
  const Clock& clock_;
  CgroupPlaces places_;
};

// One reading.
MachineMemory read_machine_memory(const std::string& root, const Clock& clock);

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace hearth::front {

// One memory cgroup with a limit that holds for this process: its own or one above.
struct CgroupMemory {
  std::string path;     // as the cgroup file system shows it: "/sys/fs/cgroup/hearth.slice"
  int version = 2;      // of the hierarchy: 1 or 2
  Bytes limit;          // of version 2 the smaller of memory.max and memory.high
  Bytes used;           // all that is charged, also by other processes in it
  Bytes unreclaimable;  // of that, without the page cache of files
  std::optional<double> some_avg10;  // memory pressure in it, percent; version 2 only
  std::optional<double> full_avg10;

  // What still fits below the limit.
  Bytes room() const { return limit - unreclaimable; }
};

// What one directory says: nullopt without a limit, or where it cannot be told what is used.
std::optional<CgroupMemory> cgroup_in(const std::string& root, const std::string& path,
                                      int version);

// The directories that may limit this process's memory, as one process sees them.
class CgroupPlaces {
 public:
  struct Place {
    std::string path;  // below the reader's root
    int version = 2;

    friend bool operator==(const Place&, const Place&) = default;
  };

  // Finds the places again if this process has moved since the last call (`own`: the text of
  // /proc/self/cgroup), out of `root`/proc/self/mountinfo.
  const std::vector<Place>& find(const std::string& root, const std::string& own);

 private:
  std::string own_;
  std::vector<Place> places_;
};

// Own group first, then the ones above it, of each hierarchy that controls memory. In a container
// only what its namespace shows can be looked at: where the own path leads nowhere, the root of the
// mount stands for it.
std::vector<CgroupPlaces::Place> cgroup_places(std::string_view own, std::string_view mountinfo);

// Of all places the one that leaves the least room.
std::optional<CgroupMemory> tightest_cgroup(const std::string& root,
                                            const std::vector<CgroupPlaces::Place>& places);

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/files.h"

namespace hearth {

// What this process may still put into memory before something else must leave it: what is free and
// what the kernel would give back at once, the page cache included. The machine's figure, or the
// limit of a memory cgroup around this process if that is less. nullopt: the kernel does not tell.
// Blocks for a fraction of a millisecond.
std::optional<Bytes> memory_room(const Files& files);

// ---- its parts, pure ----

// "MemAvailable" of /proc/meminfo.
std::optional<Bytes> available_in(std::string_view meminfo);

// What one cgroup leaves: its limit without what cannot be given back. `stat`: memory.stat, of
// either version. nullopt without a limit.
std::optional<Bytes> room_in_cgroup(std::string_view limit, std::string_view usage,
                                    std::string_view stat);

// The path of this process in a hierarchy, out of /proc/self/cgroup: "memory" for version 1, "" for
// version 2. nullopt: there is none.
std::optional<std::string_view> cgroup_path(std::string_view cgroups, std::string_view controller);

}  // namespace hearth

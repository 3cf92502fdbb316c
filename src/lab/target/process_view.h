// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::lab {

// What the kernel says of a server's sockets and files, beside machine/processes.h. Everything is a
// snapshot; what cannot be seen (it ended, or is another user's) is left out. Thread-safe.

// Ports on which the process listens, by its sockets' inodes; ascending.
std::vector<std::uint16_t> listening_ports(pid_t pid);

// Processes that listen on the port, those whose parent does too left out.
std::vector<pid_t> listeners(std::uint16_t port);

// Files of at least `bytes` that the process maps; without what lies in the system's own library
// folders, which every other process maps too. Sorted.
enum class Mapped { kPrograms, kData };
std::vector<std::string> mapped_files(pid_t pid, Mapped which, std::uint64_t bytes = 0);

}  // namespace hearth::lab

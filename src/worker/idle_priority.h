// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>

namespace hearth::worker {

// Leaves this thread what others leave of processors and disks. For threads that end with their
// work: the way back may be closed to it (see come_back), and threads that it makes are idle too.
void become_idle();

// Threads of this process that became idle are to be as others again. Disks always follow; false:
// some thread is left with what processors others leave, since the system lets nobody take more
// without privilege.
bool come_back(std::span<const pid_t> threads);

}  // namespace hearth::worker

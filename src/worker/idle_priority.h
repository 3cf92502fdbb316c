// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>

namespace hearth::worker {

// Leaves this thread what others leave of processors and disks. For threads that end with their
// work: the way back may be closed to it (see come_back), and threads that it makes are idle too.
void become_idle();

// Whether a thread of this process that became idle can be as it was again. Asked of the system
// once.
bool may_come_back();

// These threads of this process take what others leave of processors; disks stay as they are. Only
// where may_come_back().
void make_idle(std::span<const pid_t> threads);

// Likewise, but of their priority nothing changes: they count as any others where processor time is
// counted.
void go_behind(std::span<const pid_t> threads);

// Threads of this process that became idle are to be as others again. Disks always follow; false:
// some thread is left with what processors others leave, since the system lets nobody take more
// without privilege.
bool come_back(std::span<const pid_t> threads);

}  // namespace hearth::worker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>

namespace hearth::worker {

// Gives these threads of this process their priority, -20 to 19, and the process with them where
// the kernel shares CPUs out between sessions first ("autogroup"): it then leaves the session it
// was started in. What the system refuses is logged once, with what would help. Returns the
// priority they have afterwards.
int set_priority(std::span<const pid_t> threads, int nice);

}  // namespace hearth::worker

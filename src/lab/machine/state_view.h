// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "lab/trial.h"

namespace hearth::lab {

// See Machine::observe. Blocks for about a millisecond per GB of resident pages.
StateProof observe_state(const Files& files, const std::vector<pid_t>& processes,
                         const std::vector<std::string>& paths);

// MHz, the mean of the processors; nullopt where the kernel does not know what they run at.
std::optional<double> processor_clock();

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace hearth::lab {

// See Machine::description. Reads small files of /proc and /sys alone.
std::string describe_machine(const Files& files, const std::vector<std::string>& paths);

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/files.h"

namespace hearth {

// The text of a small file, as the kernel's in /proc and /sys, without blanks at its end; empty
// when it cannot be read. At most 1 MiB.
std::string small_text(const Files& files, const std::string& path);

}  // namespace hearth

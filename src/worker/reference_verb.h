// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hearth::worker {

// Prints engine::greedy_reference() of one file to stdout. Returns the process's exit code.
int print_reference(const std::string& path, const std::string& prompt, int count);

}  // namespace hearth::worker

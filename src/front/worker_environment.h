// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hearth::front {

// What a worker's environment holds: the locale, malloc's huge pages (fewer page faults when KV
// cells are first touched), and what the GPU runtimes need to find their devices and caches. No
// secrets, no proxies, no PATH.
std::vector<std::string> worker_environment();

// hearth-worker and hearth-keeper, beside the running executable. Empty when /proc is not there.
std::string worker_program();
std::string keeper_program();

}  // namespace hearth::front

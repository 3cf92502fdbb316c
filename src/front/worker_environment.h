// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hearth::front {

// What a worker's environment holds: the locale, malloc's huge pages (fewer page faults when KV
// cells are first touched), what the GPU runtimes need to find their devices, and `more`, which
// says where drivers keep what they compile. No secrets, no proxies, no PATH.
std::vector<std::string> worker_environment(const std::vector<std::string>& more);

// What a fetcher's holds, of what `ours` does: proxies and where certificates are. No secrets.
std::vector<std::string> fetcher_environment(const std::map<std::string, std::string>& ours);

// hearth-worker, hearth-keeper and hearth-fetcher, beside the running executable. Empty when /proc
// is not there.
std::string worker_program();
std::string keeper_program();
std::string fetcher_program();

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hearth::front {

// What a section [protected."recorder"] of the file declares: another program that comes first.
struct ProtectedOptions {
  std::string name;
  // Exactly one of the three is not empty.
  std::string process;             // its name, or its executable's, without a path
  std::string cgroup;              // below /sys/fs/cgroup, without a slash at either end
  std::string url;                 // "http://..."
  std::int64_t p99_percent = 110;  // of its usual p99, which its latency may reach
  std::int64_t psi_limit = 10;     // percent, of its cgroup; 0: not looked at
  bool release_pins = false;       // whether pins may go for its sake

  friend bool operator==(const ProtectedOptions&, const ProtectedOptions&) = default;
};

}  // namespace hearth::front

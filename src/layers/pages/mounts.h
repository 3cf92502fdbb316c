// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

// One line of /proc/self/mountinfo.
struct Mount {
  std::string device;       // "8:1"; "0:42" for what has no block device of its own
  std::string point;        // where it is mounted
  std::string file_system;  // "ext4"
  std::string source;       // "/dev/sda1", "nas:/models"
};

// The mount that an absolute path without links lies on: the longest point above it, and of several
// at one point the one mounted last. `mountinfo`: the file's text; lines that make no sense are
// passed over.
std::optional<Mount> mount_of(std::string_view mountinfo, std::string_view path);

// Of a network mount's source: "nas" of "nas:/models", "[fe80::1]" of "[fe80::1]:/x", "nas" of
// "//nas/models"; the source itself where neither fits.
std::string server_of(std::string_view source);

}  // namespace hearth

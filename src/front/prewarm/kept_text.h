// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/files.h"

namespace hearth::front {

// Small files of our own that are read once, at start, and replaced whole. Both block.

// The file's text; nullopt if there is none, or it cannot be read or is longer than `most`; then a
// warning says why, and what is there is set aside.
std::optional<std::string> read_kept(const Files& files, const std::string& path, Bytes most);

// Mode 0600; the file at `path` is whole at any moment.
Result<> write_kept(const Files& files, const std::string& path, const std::string& text);

// What is in it makes no sense, for this reason: a warning, and it goes to `path`.bad, so that
// writing does not destroy it.
void set_aside(const Files& files, const std::string& path, const std::string& reason);

}  // namespace hearth::front

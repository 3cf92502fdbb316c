// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace hearth::lab {

// The best rate, bytes per second, at which pieces of this file came from its device past the page
// cache, several at once; the file's pages stay as they are. Takes up to a second. nullopt: the
// file cannot be read that way.
std::optional<double> fastest_direct_read(const std::string& path);

}  // namespace hearth::lab

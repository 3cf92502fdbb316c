// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace hearth::cli {

// Of this executable.
constexpr std::string_view kVersion = "0.1.0";

}  // namespace hearth::cli

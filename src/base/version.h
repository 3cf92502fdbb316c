// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace hearth {

// The project's version, as CMakeLists.txt has it.
std::string_view version();

// The pinned engine's package version and commit: "3.22.1 (llama.cpp de3ff81)". A worker says
// itself which engine it runs; this is what the build was made against.
std::string_view engine_build();

}  // namespace hearth

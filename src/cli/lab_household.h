// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "policy/household/trace.h"

namespace hearth::cli {

// The household of a file, or one that is made up where `path` is empty. Errors: kNotFound,
// kInvalid.
Result<household::Trace> household_from(const std::string& path, std::uint64_t seed, int days);

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hearth::engine {

// A token id of the model's vocabulary, as the engine numbers them.
using Token = std::int32_t;

}  // namespace hearth::engine

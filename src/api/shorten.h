// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace hearth::api {

// Cuts a vector to its first `dimensions` and brings what is left back to length 1. One that is
// short enough, and one of zeros, stay as they are.
void shorten(std::vector<float>& vector, std::size_t dimensions);

}  // namespace hearth::api

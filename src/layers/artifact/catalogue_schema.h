// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hearth {

// The steps that make a catalogue of any age one of today's, oldest first. A step that has been
// released is never changed.
const std::vector<std::string>& catalogue_schema();

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "lab/doctor/circumstances.h"
#include "lab/doctor/finding.h"

namespace hearth::lab {

// What to do about a verdict's code that comes again and again, as things are just now. Pure.
Remedy remedy_for(std::string_view code, const std::string& model, const Circumstances& facts);

// Raises whatever bounds the memory for models.
Remedy remedy_for_memory(const Circumstances& facts);

}  // namespace hearth::lab

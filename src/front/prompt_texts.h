// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hearth::front {

// Whether pieces of prompts are told. They may be anybody's, so only admins are told them.
enum class PromptTexts : std::uint8_t { kTold, kWithheld };

}  // namespace hearth::front

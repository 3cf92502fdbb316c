// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

// What modules may be like. Errors: kInvalid, as a sentence of its own.
namespace hearth::front {

inline constexpr std::size_t kMostModules = 64;
inline constexpr std::size_t kMostModuleText = std::size_t{1} << 20;  // bytes
inline constexpr std::size_t kMostModuleModels = 32;

// 1 to 64 letters, digits, "_", "-" and ".", the first of them a letter or a digit.
Result<> check_module_name(const std::string& name);
// Some text in UTF-8, of at most kMostModuleText.
Result<> check_module_text(const std::string& text);
// Canonical names, each once. The error's field is "[i]".
Result<std::vector<std::string>> canonical_models(const std::vector<std::string>& names);

}  // namespace hearth::front

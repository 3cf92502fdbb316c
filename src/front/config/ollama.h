// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// What Ollama's environment variables mean in the words of our options; nothing when a variable's
// value asks for Ollama's default. Errors: kInvalid.
namespace hearth::front::ollama {

using Translated = Result<std::optional<std::string>>;

// Spaces and quotes around a value are not part of it.
std::string_view value_of(std::string_view text);

Translated same(std::string_view text);
Translated number_or_unset(std::string_view text);  // 0 is unset
Translated listen(std::string_view text);           // without a port it is Ollama's, 11434
Translated log_level(std::string_view text);        // "1", "true", "2"
Translated seconds(std::string_view text);          // a duration; nothing or less is no limit

}  // namespace hearth::front::ollama

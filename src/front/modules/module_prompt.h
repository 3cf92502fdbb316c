// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/messages.h"

// How modules become a part of prompts. Pure.
namespace hearth::front {

// A blank line between any two.
std::string joined_modules(std::span<const std::string> texts);

// `messages`, a JSON list in OpenAI's shape, with these texts before everything else: at the
// beginning of the system message that comes first, a blank line before what it says itself, or in
// one of their own where none does. Errors: kInvalid, when it is no list of messages.
Result<std::string> with_modules(const std::string& messages, std::span<const std::string> texts);

// What tells where the tokens of a prompt with this system text begin to depend on what the user
// says: two prompts that have nothing else in common.
struct ModuleProbes {
  wire::GenerateMessage one;
  wire::GenerateMessage other;
};
ModuleProbes module_probes(const std::string& text);

// The first tokens, as far as both have the same.
std::vector<int> common_beginning(std::span<const int> a, std::span<const int> b);

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "wire/logprobs.h"

namespace hearth::api {

// So many alternatives of a token can be asked for.
inline constexpr int kMostAlternatives = 20;

// A list as chats of OpenAI's dialect have it at logprobs.content, and Ollama's at logprobs:
// {"token","logprob","bytes","top_logprobs"}. `token` is the text with U+FFFD for what is no whole
// character; `bytes` are exact.
std::string logprob_list(std::span<const wire::TokenLogprob> tokens);

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "wire/logprobs.h"

namespace hearth::api::openai {

// `logprobs` of /v1/completions: four lists side by side. One object for each choice, as it counts
// where in the text a token begins; in characters, as the clients count. Not thread-safe.
class CompletionLogprobs {
 public:
  // Of the tokens that follow those of the last call; null when there are none.
  std::string json(std::span<const wire::TokenLogprob> tokens);

 private:
  std::size_t offset_ = 0;
};

}  // namespace hearth::api::openai

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/output_parser.h"
#include "engine/vocabulary.h"
#include "wire/logprobs.h"
#include "worker/held_logprobs.h"
#include "worker/request.h"

namespace hearth::worker {

// From tokens to what may be sent: whole characters only, nothing that may be part of a stop
// string, split into text, reasoning and tool calls. Not thread-safe.
class Answer {
 public:
  Answer(const engine::Vocabulary& vocabulary, Request& request)
      : vocabulary_{vocabulary}, request_{request} {}

  struct Step {
    engine::OutputDelta delta;
    const std::string* stop = nullptr;  // the stop string that ended the answer
  };
  Step add(engine::Token token, std::optional<wire::TokenLogprob> told = {});

  // What was held back, when the answer ended otherwise than by a stop string.
  engine::OutputDelta rest();
  // What the parser still has, after a stop string or rest().
  engine::OutputDelta finish();

  // Of the tokens whose text has come out since the last call.
  std::vector<wire::TokenLogprob> take_logprobs() { return logprobs_.take(); }

  bool called_tools() const { return request_.parser && request_.parser->called_tools(); }

 private:
  engine::OutputDelta parsed(std::string text);

  const engine::Vocabulary& vocabulary_;
  Request& request_;
  std::string bytes_;  // of a character that is not whole yet
  HeldLogprobs logprobs_;
};

}  // namespace hearth::worker

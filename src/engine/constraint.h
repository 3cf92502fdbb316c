// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/tokens.h"

namespace hearth::engine {

// What switches a lazy grammar on. `kind` is the engine's own enumeration.
struct GrammarTrigger {
  int kind = 0;
  std::string value;
  Token token = -1;
};

// Limits on what may be sampled, as the engine's grammars state them. Empty: none.
struct Constraint {
  enum class Source { kRequest, kTemplate };  // who wants it

  std::string grammar;
  Source source = Source::kTemplate;
  bool lazy = false;  // only after a trigger
  std::vector<GrammarTrigger> triggers;
  std::vector<Token> preserved;   // control tokens whose text the parser needs
  std::string generation_prompt;  // what the template already said in the model's name
};

}  // namespace hearth::engine

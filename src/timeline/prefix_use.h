// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "timeline/verdict_code.h"

namespace hearth {

// What a request took from earlier prompts, from where, and what kept it from more.
struct PrefixUse {
  int live = 0;  // tokens; these three and `approximate` are the request's cached tokens
  int memory = 0;
  int disk = 0;
  Bytes restored;  // read for that, from memory and disk

  // Where the prompt left the nearest earlier one.
  struct Difference {
    int character = 0;  // of the prompt's text, in bytes
    std::string had;    // the earlier token's text; never kept in the history
    std::string has;    // this one's; likewise
  };
  struct Miss {
    VerdictCode reason = VerdictCode::kPrefixEvicted;  // one of prefix.*
    int position = 0;  // of the first token that was not taken from an earlier prompt
    std::optional<Difference> difference;
  };
  std::optional<Miss> miss;
  std::string not_restorable;  // why this model's state cannot be restored at all; may be empty

  int approximate = 0;  // of the cached tokens: taken from other positions than their own
  int normalised = 0;   // places of the prompt that were made alike before it was evaluated
  struct Module {
    std::string name;
    std::string version;
    int tokens = 0;  // of its text; -1: not counted yet
  };
  std::vector<Module> modules;  // that the request named
};

// The `prefix` object of a reply. `texts` in the history is kLeftOut: a token's text is a piece of
// somebody's prompt.
enum class PrefixTexts { kShown, kLeftOut };
std::string to_json(const PrefixUse& use, PrefixTexts texts);

}  // namespace hearth

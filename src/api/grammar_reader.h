// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hearth::api {

// A GBNF grammar as far as its limits depend on it: which rule refers to which, what may be empty,
// and what is repeated how often.
struct Grammar {
  struct Item {
    int rule = -1;       // of a reference or a group; -1: text, a set of characters or a token
    bool empty = false;  // it may be left out, or is an empty text
    bool repeated = false;
    bool endless = false;  // repeated without a bound
    int times = 1;         // at most, where there is a bound
    std::size_t line = 0;
  };
  using Sequence = std::vector<Item>;
  struct Rule {
    std::string name;  // of a group: that of the rule it stands in
    std::vector<Sequence> alternates;
    bool defined = false;
    std::size_t line = 0;  // where it is defined, or first spoken of
  };
  std::vector<Rule> rules;
  std::map<std::string, int, std::less<>> names;
};

// Errors: kInvalid with the line; also more than 2,000 rules and groups, nesting of
// more than 64, and counts over 2,000.
Result<Grammar> parse_grammar(std::string_view text);

}  // namespace hearth::api

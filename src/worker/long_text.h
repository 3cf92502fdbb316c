// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokens.h"
#include "engine/vocabulary.h"

namespace hearth::worker {

// A text of which the middle may be missing.
struct LongText {
  std::vector<engine::Token> tokens;
  int unread_tokens = 0;  // estimated, between the two ends
};

struct TextEnds {
  int head = 0;  // tokens, beside a BOS
  int most = 0;  // in all
};

// Tokenizes a text of any length in the time that `ends.most` tokens take: of a text that has more,
// its first `head` tokens and at least so many of its last that there are more than `most` in all.
LongText read_ends(const engine::Vocabulary& vocabulary, std::string_view text,
                   engine::AddSpecial special, TextEnds ends);

// The same for a text that will lose its end: more than `most` tokens of its beginning, or all. The
// mark that ends every text, if the vocabulary has one, comes last all the same.
LongText read_beginning(const engine::Vocabulary& vocabulary, std::string_view text, int most);

}  // namespace hearth::worker

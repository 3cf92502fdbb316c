// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hearth::lab {

// Text of about so many tokens: common English words, which most vocabularies hold whole. Each
// number gives another text, from its first word on; the same number and length the same text.
std::string prompt_of(int tokens, int number);

// A text that begins as all of `topic` do, for `shared` tokens, and goes on in a way of its own.
std::string prompt_about(int topic, int shared, int own, int number);

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hearth::front {

// Whether a pattern can be used. Errors: kInvalid, as the end of a sentence that begins with the
// option's name.
Result<> check_normalise_pattern(const std::string& pattern);

// Cuts out of prompts what changes from request to request, by patterns that people write: `*`
// stands for any text within one line, and that text is what goes, so "Current date: *" leaves the
// label without the date. A pattern may match anywhere in a line, several times; a last `*` takes
// the rest of the line, one that is first what is before on it, any other as little as fits.
//
// Its time is linear in the text for each pattern. Immutable, so thread-safe.
class PromptNormaliser {
 public:
  static constexpr std::size_t kMostPatterns = 32;
  static constexpr std::size_t kLongestPattern = 200;                // bytes
  static constexpr std::size_t kMostStars = 8;                       // of a pattern
  static constexpr std::size_t kLongestText = std::size_t{1} << 20;  // of it, the beginning
  static constexpr std::size_t kLongestMessages = std::size_t{16} << 20;

  PromptNormaliser() = default;
  // Patterns that check_normalise_pattern() refuses, and those beyond kMostPatterns, are left out.
  explicit PromptNormaliser(const std::vector<std::string>& patterns);

  bool empty() const { return patterns_.empty(); }

  // `messages`: JSON text in OpenAI's shape. What is changed is the text of system and developer
  // messages; where there is none, of the first user message. What is of another shape, or longer
  // than kLongestMessages, stays as it is.
  struct Outcome {
    std::string messages;
    int places = 0;  // that were cut; 0: `messages` is what came, byte by byte
  };
  Outcome apply(std::string messages) const;

  // The number of places that were cut.
  int cut(std::string& text) const;

 private:
  // The texts between the stars; the first and last may be empty.
  using Pattern = std::vector<std::string>;
  static int cut_line(std::string& line, const Pattern& pattern);

  std::vector<Pattern> patterns_;
};

}  // namespace hearth::front

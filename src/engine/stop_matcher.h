// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::engine {

// Finds stop strings in text that arrives in pieces, however the pieces cut them. Text that may be
// the beginning of a stop string is held back until that is decided, so no part of one ever gets
// out.
//
// The match that is complete first wins; of two that end together, the longer. So the outcome does
// not depend on where the pieces were cut. Not thread-safe.
class StopMatcher {
 public:
  StopMatcher() = default;
  explicit StopMatcher(std::vector<std::string> stops);  // empty ones are ignored

  struct Outcome {
    std::string text;                   // may be sent now
    const std::string* stop = nullptr;  // the stop string that was found; nothing after it matters
  };

  // Not to be called after a stop was found.
  Outcome feed(std::string_view piece);

  // What was held back, once no more text will come.
  std::string flush();

 private:
  struct Match {
    std::size_t begin, end;
    const std::string* stop;
  };
  std::optional<Match> first_match() const;
  std::size_t undecided_from() const;

  std::vector<std::string> stops_;
  std::string held_;
};

}  // namespace hearth::engine

// SPDX-License-Identifier: Apache-2.0
#include "engine/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace hearth::engine {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_{std::move(stops)} {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

StopMatcher::Outcome StopMatcher::feed(std::string_view piece) {
  if (stops_.empty()) return {std::string{piece}, nullptr};
  held_ += piece;
  if (const auto match = first_match()) {
    Outcome outcome{held_.substr(0, match->begin), match->stop};
    held_.clear();
    return outcome;
  }
  const std::size_t keep = undecided_from();
  Outcome outcome{held_.substr(0, keep), nullptr};
  held_.erase(0, keep);
  return outcome;
}

std::string StopMatcher::flush() { return std::exchange(held_, {}); }

std::optional<StopMatcher::Match> StopMatcher::first_match() const {
  std::optional<Match> best;
  for (const std::string& stop : stops_) {
    const std::size_t begin = held_.find(stop);
    if (begin == std::string::npos) continue;
    const Match match{begin, begin + stop.size(), &stop};
    const bool sooner =
        !best || match.end < best->end || (match.end == best->end && match.begin < best->begin);
    if (sooner) best = match;
  }
  return best;
}

// Where the longest tail begins that some stop string begins with.
std::size_t StopMatcher::undecided_from() const {
  std::size_t longest = 0;
  for (const std::string& stop : stops_) {
    std::size_t length = std::min(stop.size() - 1, held_.size());
    while (length > longest && held_.compare(held_.size() - length, length, stop, 0, length) != 0) {
      --length;
    }
    longest = std::max(longest, length);
  }
  return held_.size() - longest;
}

}  // namespace hearth::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace hearth::fetcher {

// How long to wait after a failure, and when to give up: so many failures in a row without any
// progress between them. The wait doubles, up to a minute. Not thread-safe.
class Patience {
 public:
  using Wait = std::chrono::milliseconds;

  Patience(int retries, Wait first) : retries_{retries}, first_{first} {}

  void progressed() { in_row_ = 0; }

  // What a server asks for is waited for, up to ten minutes. Nothing: give up.
  std::optional<Wait> failed(std::optional<std::chrono::seconds> asked) {
    if (in_row_ >= retries_) return std::nullopt;
    Wait wait = std::min<Wait>(first_, kLongest);
    for (int i = 0; i < in_row_ && wait < kLongest; ++i) wait = std::min<Wait>(wait * 2, kLongest);
    ++in_row_;
    if (asked) wait = std::max(wait, std::min<Wait>(*asked, kLongestAsked));
    return wait;
  }

  int in_row() const { return in_row_; }

 private:
  static constexpr Wait kLongest = std::chrono::minutes{1};
  static constexpr Wait kLongestAsked = std::chrono::minutes{10};

  const int retries_;
  const Wait first_;
  int in_row_ = 0;
};

}  // namespace hearth::fetcher

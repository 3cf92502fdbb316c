// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "wire/logprobs.h"

namespace hearth::worker {

// Log probabilities of tokens whose text is held back, because it is half a character or may be the
// beginning of a stop string: they go out with their text, or with it not at all. Not thread-safe.
class HeldLogprobs {
 public:
  // A token that added `bytes` to the text; none for a control token that is not shown.
  void add(wire::TokenLogprob told, std::size_t bytes) {
    held_.push_back({std::move(told), made_, bytes});
    made_ += bytes;
  }

  // So much more of the text was let go.
  void let_go(std::size_t bytes) {
    gone_ += bytes;
    while (!held_.empty() && is_out(held_.front())) release_first();
  }

  // No more text will come; what was held back for that is let go.
  void let_all_go() {
    while (!held_.empty()) release_first();
  }

  // What was let go since the last call.
  std::vector<wire::TokenLogprob> take() { return std::exchange(out_, {}); }

 private:
  struct Held {
    wire::TokenLogprob told;
    std::size_t begin, bytes;  // of its text
  };

  // A token that a stop string begins in the middle of counts: a part of it was sent.
  bool is_out(const Held& held) const {
    return held.begin < gone_ || (held.bytes == 0 && held.begin == gone_);
  }
  void release_first() {
    out_.push_back(std::move(held_.front().told));
    held_.pop_front();
  }

  std::deque<Held> held_;
  std::vector<wire::TokenLogprob> out_;
  std::size_t made_ = 0;
  std::size_t gone_ = 0;
};

}  // namespace hearth::worker

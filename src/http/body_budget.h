// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"

namespace hearth::http {

// Bounds the memory that the bodies of all requests take together, those being read and those being
// answered. The first 64 KiB of each are free, so that small requests go on when large ones have
// used everything up; the true bound is that much more for each connection.
//
// Belongs to the loop; outlives its shares.
class BodyBudget {
 public:
  static constexpr Bytes kFree{64 << 10};

  // One request's part, given back by the destructor.
  class Share {
   public:
    explicit Share(BodyBudget& budget) : budget_{budget} {}
    ~Share() { budget_.taken_ = budget_.taken_ - mine_; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Makes this the share of a body of `size`. False, and no change, when the budget has not so
    // much left. Never shrinks.
    bool grow_to(Bytes size) {
      const Bytes more = (size - kFree) - mine_;
      if (budget_.taken_ + more > budget_.limit_) return false;
      budget_.taken_ += more;
      mine_ += more;
      return true;
    }

   private:
    BodyBudget& budget_;
    Bytes mine_;
  };

  explicit BodyBudget(Bytes limit) : limit_{limit} {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;

  Bytes taken() const { return taken_; }

 private:
  const Bytes limit_;
  Bytes taken_;
};

}  // namespace hearth::http

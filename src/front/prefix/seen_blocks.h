// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "front/prefix/digests.h"

namespace hearth::front {

// Which blocks were evaluated since the start, whether or not anything of them is stored: their
// digests, and for whom. So a miss can be told from a prompt that is new.
//
// Bounded: beyond `most` the longest unused go. Belongs to the loop.
class SeenBlocks {
 public:
  // Two numbers that stand for a fingerprint and a group.
  struct Who {
    std::uint64_t options = 0;
    std::uint64_t group = 0;

    friend bool operator==(const Who&, const Who&) = default;
  };

  explicit SeenBlocks(std::size_t most = 200'000) : most_{most} {}

  // `chain` within its domain, `plain` of the same tokens within none.
  void note(std::span<const Digest> chain, std::span<const Digest> plain, Who who);

  std::size_t leading(std::span<const Digest> chain) const;
  // Whether a prompt went on with another full block after this one.
  bool continued(const Digest& block) const;

  enum class Others { kNone, kOtherGroup, kOtherOptions };
  // Who else evaluated these tokens.
  Others others(const Digest& plain, Who who) const;

  std::size_t blocks() const { return by_digest_.size(); }
  void clear();

 private:
  static constexpr std::size_t kMostWho = 8;
  struct Block {
    std::list<Digest>::iterator age;
    bool continued = false;
    std::vector<Who> who;  // of a plain one
  };
  Block& touch(const Digest& digest);

  std::size_t most_;
  std::list<Digest> by_age_;  // oldest first
  DigestMap<Block> by_digest_;
};

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <unordered_map>

#include "base/sha256.h"

namespace hearth {

// Within what evaluated tokens may be taken for one another: the same model, options and whatever
// else changes the values (`fingerprint`), asked for under the same key (`salt`).
struct PrefixDomain {
  std::string fingerprint;
  std::string salt;
};

// Remembers which prompt prefixes have been evaluated, as one 32-byte digest for each block of 64
// tokens, chained from the first block on. It holds no state of the engine: it tells a prefix that
// was lost from one that was never there. A block that is not full is not remembered.
//
// Bounded: beyond `max_blocks` the longest unused go, of one prompt the last blocks first. Belongs
// to one thread. A false "seen" would take a SHA-256 collision.
class PrefixIndex {
 public:
  static constexpr std::size_t kBlock = 64;
  static constexpr std::size_t kDefaultBlocks = 200'000;  // about 25 MB when full

  explicit PrefixIndex(std::size_t max_blocks = kDefaultBlocks) : max_blocks_{max_blocks} {}

  void note_evaluated(const PrefixDomain& domain, std::span<const std::int32_t> tokens);

  // How many leading tokens lie in blocks that were evaluated before; a multiple of kBlock.
  std::size_t seen_prefix(const PrefixDomain& domain, std::span<const std::int32_t> tokens) const;

  std::size_t blocks() const { return by_digest_.size(); }
  void clear();

 private:
  struct HashOfDigest {
    std::size_t operator()(const Digest& digest) const;
  };

  std::size_t max_blocks_;
  std::list<Digest> by_age_;  // oldest first
  std::unordered_map<Digest, std::list<Digest>::iterator, HashOfDigest> by_digest_;
};

}  // namespace hearth

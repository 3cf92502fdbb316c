// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"

namespace hearth {

// Which blocks of evaluated prompts are in one tier, within a budget of bytes, and which must go
// when it is full. It knows names and sizes only.
//
// A block never outlives the block before it, so what is there of a prompt is always a beginning of
// it. Belongs to one thread.
class BlockTier {
 public:
  enum class Stay { kAsLongAsWorth, kAlways };  // the latter counts, but never has to go

  static constexpr int kMostUses = 2;  // more are not told apart

  explicit BlockTier(Bytes budget);
  ~BlockTier();

  bool has(const Digest& block) const;
  // How many blocks at the beginning of `chain` are here.
  std::size_t leading(std::span<const Digest> chain) const;
  // How often it was needed since it first came here, up to kMostUses; 0 for an unknown one.
  int uses(const Digest& block) const;

  // A request needed this chain, from its first block on, whether or not all of it is here.
  void note_use(std::span<const Digest> chain);

  // Takes in a block, whose predecessor is here (or is no block, for the first of a chain), and
  // returns those that had to go for it, in an order in which they can be deleted one by one. The
  // block itself is among them when it is worth less than all others, or larger than what the
  // budget leaves beside those that always stay; then those after it must not be added either. Of
  // a block that is here already only `stay` is taken.
  std::vector<Digest> add(const Digest& block, const Digest& parent, Bytes size, Stay stay);
  // What may go from now on does so in the next add() or set_budget().
  void set_stay(const Digest& block, Stay stay);
  // Takes out a block and all that follow it, whether or not they always stay; returns those, in
  // an order as add()'s.
  std::vector<Digest> remove(const Digest& block);

  // What has to go to fit a smaller budget, in an order as add()'s. Only blocks that always stay,
  // and those before them, can then be more than it; nothing is taken in until they are not.
  std::vector<Digest> set_budget(Bytes budget);

  Bytes used() const;
  std::size_t blocks() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth

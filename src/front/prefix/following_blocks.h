// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "front/prefix/digests.h"

namespace hearth::front {

// Which blocks follow a block (or a root), by their tokens: whole ones and parts. Finds the one
// that goes on as a text does for longest, without a look at all of them. Belongs to the loop.
class FollowingBlocks {
 public:
  static constexpr std::size_t kMostParts = 4;  // that are wanted behind one block

  void add(const Digest& block, const Digest& parent, std::vector<int> tokens);
  void remove(const Digest& parent, std::span<const int> tokens);

  using Usable = std::function<bool(const Digest& block)>;
  struct Match {
    Digest block{};
    std::size_t tokens = 0;  // that it has in common with the text, at least one
  };
  // Of those for which `usable` is true.
  std::optional<Match> longest(const Digest& parent, std::span<const int> text,
                               const Usable& usable) const;

  // Parts that a block of these tokens makes superfluous: it begins with theirs.
  std::vector<Digest> covered(const Digest& parent, std::span<const int> tokens) const;
  // Of the parts that count those beyond kMostParts: they came first.
  std::vector<Digest> surplus(const Digest& parent, const Usable& counts) const;

 private:
  using ByTokens = std::map<std::vector<int>, Digest>;
  struct Followers {
    ByTokens all;
    std::vector<ByTokens::const_iterator> parts;  // in the order of coming
  };
  DigestMap<Followers> by_parent_;
};

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/following_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "blocks/block_chain.h"

namespace hearth::front {
namespace {

std::size_t common(std::span<const int> a, std::span<const int> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

void FollowingBlocks::add(const Digest& block, const Digest& parent, std::vector<int> tokens) {
  const bool part = tokens.size() < blocks::kBlockTokens;
  Followers& followers = by_parent_[parent];
  const auto [place, added] = followers.all.try_emplace(std::move(tokens), block);
  if (added && part) followers.parts.push_back(place);
}

void FollowingBlocks::remove(const Digest& parent, std::span<const int> tokens) {
  const auto followers = by_parent_.find(parent);
  if (followers == by_parent_.end()) return;
  auto& [all, parts] = followers->second;
  const auto place = all.find(std::vector<int>{tokens.begin(), tokens.end()});
  if (place == all.end()) return;
  std::erase(parts, ByTokens::const_iterator{place});
  all.erase(place);
  if (all.empty()) by_parent_.erase(followers);
}

// In the order of tokens, what begins like a text for longest stands beside the place where the
// text itself would stand, and the further away, the less is in common.
std::optional<FollowingBlocks::Match> FollowingBlocks::longest(const Digest& parent,
                                                               std::span<const int> text,
                                                               const Usable& usable) const {
  const auto followers = by_parent_.find(parent);
  if (followers == by_parent_.end()) return std::nullopt;
  const ByTokens& all = followers->second.all;
  Match best;
  const auto take = [&](ByTokens::const_iterator each) {
    const std::size_t alike = common(text, each->first);
    if (alike <= best.tokens) return false;
    if (!usable(each->second)) return true;
    best = {each->second, alike};
    return false;
  };
  const auto middle = all.lower_bound(std::vector<int>{text.begin(), text.end()});
  for (auto each = middle; each != all.end() && take(each);) ++each;
  for (auto each = middle; each != all.begin() && take(std::prev(each));) --each;
  return best.tokens > 0 ? std::optional{best} : std::nullopt;
}

std::vector<Digest> FollowingBlocks::covered(const Digest& parent,
                                             std::span<const int> tokens) const {
  std::vector<Digest> covered;
  const auto followers = by_parent_.find(parent);
  if (followers == by_parent_.end()) return covered;
  for (const auto& part : followers->second.parts) {
    const std::size_t size = part->first.size();
    if (size < tokens.size() && common(tokens, part->first) == size) {
      covered.push_back(part->second);
    }
  }
  return covered;
}

std::vector<Digest> FollowingBlocks::surplus(const Digest& parent, const Usable& counts) const {
  std::vector<Digest> surplus;
  const auto followers = by_parent_.find(parent);
  if (followers == by_parent_.end()) return surplus;
  for (const auto& part : followers->second.parts) {
    if (counts(part->second)) surplus.push_back(part->second);
  }
  surplus.resize(surplus.size() - std::min(surplus.size(), kMostParts));
  return surplus;
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/seen_blocks.h"

#include <algorithm>

namespace hearth::front {

// The last block first: one without those before it is never found again, so it must go first.
void SeenBlocks::note(std::span<const Digest> chain, std::span<const Digest> plain, Who who) {
  for (std::size_t i = plain.size(); i-- > 0;) {
    std::vector<Who>& known = touch(plain[i]).who;
    if (std::ranges::find(known, who) != known.end()) continue;
    if (known.size() == kMostWho) known.erase(known.begin());
    known.push_back(who);
  }
  for (std::size_t i = chain.size(); i-- > 0;) {
    Block& block = touch(chain[i]);
    block.continued = block.continued || i + 1 < chain.size();
  }
  while (by_age_.size() > most_) {
    by_digest_.erase(by_age_.front());
    by_age_.pop_front();
  }
}

SeenBlocks::Block& SeenBlocks::touch(const Digest& digest) {
  const auto [found, is_new] = by_digest_.try_emplace(digest);
  if (is_new) {
    found->second.age = by_age_.insert(by_age_.end(), digest);
  } else {
    by_age_.splice(by_age_.end(), by_age_, found->second.age);
  }
  return found->second;
}

std::size_t SeenBlocks::leading(std::span<const Digest> chain) const {
  std::size_t count = 0;
  while (count < chain.size() && by_digest_.contains(chain[count])) ++count;
  return count;
}

bool SeenBlocks::continued(const Digest& block) const {
  const auto found = by_digest_.find(block);
  return found != by_digest_.end() && found->second.continued;
}

SeenBlocks::Others SeenBlocks::others(const Digest& plain, Who who) const {
  const auto found = by_digest_.find(plain);
  if (found == by_digest_.end()) return Others::kNone;
  Others others = Others::kNone;
  for (const Who& each : found->second.who) {
    if (each == who) continue;
    if (each.group == who.group) return Others::kOtherOptions;
    others = Others::kOtherGroup;
  }
  return others;
}

void SeenBlocks::clear() {
  by_age_.clear();
  by_digest_.clear();
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/prefix_index.h"

#include <cstring>
#include <vector>

namespace hearth {
namespace {

Digest seed_of(const PrefixDomain& domain) {
  Sha256 sha;
  // The length keeps two parts from running into each other.
  sha.add(std::to_string(domain.fingerprint.size())).add("\n");
  sha.add(domain.fingerprint).add(domain.salt);
  return sha.finish();
}

Digest next_link(const Digest& before, std::span<const std::int32_t> block) {
  Sha256 sha;
  sha.add(std::as_bytes(std::span{before}));
  sha.add(std::as_bytes(block));
  return sha.finish();
}

}  // namespace

std::size_t PrefixIndex::HashOfDigest::operator()(const Digest& digest) const {
  std::size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof(hash));
  return hash;
}

void PrefixIndex::note_evaluated(const PrefixDomain& domain, std::span<const std::int32_t> tokens) {
  std::vector<Digest> chain;
  Digest link = seed_of(domain);
  for (std::size_t at = 0; at + kBlock <= tokens.size(); at += kBlock) {
    link = next_link(link, tokens.subspan(at, kBlock));
    chain.push_back(link);
  }
  // Last block first: a block without those before it can never be found again, so it must go
  // first.
  for (auto digest = chain.rbegin(); digest != chain.rend(); ++digest) {
    const auto known = by_digest_.find(*digest);
    if (known != by_digest_.end()) {
      by_age_.splice(by_age_.end(), by_age_, known->second);
    } else {
      by_digest_.emplace(*digest, by_age_.insert(by_age_.end(), *digest));
    }
  }
  while (by_digest_.size() > max_blocks_) {
    by_digest_.erase(by_age_.front());
    by_age_.pop_front();
  }
}

std::size_t PrefixIndex::seen_prefix(const PrefixDomain& domain,
                                     std::span<const std::int32_t> tokens) const {
  Digest link = seed_of(domain);
  std::size_t seen = 0;
  while (seen + kBlock <= tokens.size()) {
    link = next_link(link, tokens.subspan(seen, kBlock));
    if (!by_digest_.contains(link)) break;
    seen += kBlock;
  }
  return seen;
}

void PrefixIndex::clear() {
  by_digest_.clear();
  by_age_.clear();
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_chain.h"

#include <cstddef>

namespace hearth::blocks {
namespace {

void add_text(Sha256& hash, std::string_view text) {
  const std::uint64_t size = text.size();
  hash.add(std::as_bytes(std::span{&size, 1})).add(text);
}

}  // namespace

// Lengths stand before the texts, so that none can end where another begins.
Digest root_of(const Domain& domain) {
  Sha256 hash;
  add_text(hash, "hearth prefix 1");
  add_text(hash, domain.fingerprint);
  add_text(hash, domain.group);
  add_text(hash, domain.secret);
  return hash.finish();
}

Digest digest_of(const Digest& parent, std::span<const std::int32_t> tokens) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span{parent})).add(std::as_bytes(tokens));
  return hash.finish();
}

std::vector<Digest> chain_of(const Digest& root, std::span<const std::int32_t> tokens) {
  std::vector<Digest> chain;
  chain.reserve(tokens.size() / kBlockTokens);
  for (std::size_t at = 0; at + kBlockTokens <= tokens.size(); at += kBlockTokens) {
    const Digest& parent = chain.empty() ? root : chain.back();
    chain.push_back(digest_of(parent, tokens.subspan(at, kBlockTokens)));
  }
  return chain;
}

}  // namespace hearth::blocks

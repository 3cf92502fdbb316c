// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/block_domain.h"

#include <fmt/format.h>

#include <string_view>

#include "blocks/block_chain.h"

namespace hearth::front {
namespace {

// Of this text, and of what the worker writes into a record.
constexpr int kVersion = 1;

// The length keeps a value from looking like the lines after it.
void add(std::string& text, std::string_view name, std::string_view value) {
  text += fmt::format("{}={}:{}\n", name, value.size(), value);
}

}  // namespace

std::string fingerprint_of(const PrefixRoom::Use& use, const std::optional<std::string>& content) {
  std::string text;
  add(text, "version", std::to_string(kVersion));
  if (content) {
    add(text, "content", *content);
  } else {
    add(text, "artifact", use.artifact);
  }
  const wire::CompileKey& key = use.ready.compile_key;
  add(text, "engine", use.ready.engine);
  add(text, "libraries", key.engine);
  add(text, "driver", key.driver);
  add(text, "hardware", key.hardware);
  add(text, "layout", key.layout);
  add(text, "backend", use.ready.backend);
  if (use.options.exact) add(text, "exact", std::to_string(use.options.threads));
  return text;
}

Digest root_of(const BlockDomain& domain, const std::string& secret) {
  return blocks::root_of(blocks::Domain{domain.fingerprint, domain.group, secret});
}

const BlockDomain* DomainBook::add(BlockDomain domain) {
  std::unique_ptr<BlockDomain>& place = by_root_[domain.root];
  if (!place) place = std::make_unique<BlockDomain>(std::move(domain));
  return place.get();
}

std::set<const BlockDomain*> DomainBook::where(
    const std::function<bool(const BlockDomain&)>& chosen) const {
  std::set<const BlockDomain*> domains;
  for (const auto& [root, domain] : by_root_) {
    if (chosen(*domain)) domains.insert(domain.get());
  }
  return domains;
}

const BlockDomain* DomainBook::find(const Digest& root) const {
  const auto found = by_root_.find(root);
  return found == by_root_.end() ? nullptr : found->second.get();
}

}  // namespace hearth::front

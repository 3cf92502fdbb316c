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
std::string line(std::string_view name, std::string_view value) {
  return fmt::format("{}={}:{}\n", name, value.size(), value);
}

void add(std::string& text, std::string_view name, std::string_view value) {
  text += line(name, value);
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

std::string with_content(std::string fingerprint, const std::string& artifact,
                         const std::string& content) {
  const std::string old = line("artifact", artifact);
  const std::size_t at = fingerprint.find(old);
  if (at == std::string::npos) return fingerprint;
  return fingerprint.replace(at, old.size(), line("content", content));
}

Digest root_of(const BlockDomain& domain, const std::string& secret) {
  const std::string& name = domain.named.empty() ? domain.fingerprint : domain.named;
  return blocks::root_of(blocks::Domain{name, domain.group, secret});
}

const BlockDomain* DomainBook::add(BlockDomain domain) {
  std::unique_ptr<BlockDomain>& place = by_root_[domain.root];
  if (!place) {
    place = std::make_unique<BlockDomain>(std::move(domain));
    by_name_.try_emplace({place->fingerprint, place->group}, place.get());
  }
  return place.get();
}

const BlockDomain* DomainBook::find(const std::string& fingerprint,
                                    const std::string& group) const {
  const auto found = by_name_.find({fingerprint, group});
  return found == by_name_.end() ? nullptr : found->second;
}

void DomainBook::learn(const Digest& root, const std::string& content) {
  const auto found = by_root_.find(root);
  if (found == by_root_.end() || !found->second->content.empty()) return;
  BlockDomain& domain = *found->second;
  std::string fingerprint = with_content(domain.fingerprint, domain.artifact, content);
  if (!by_name_.try_emplace({fingerprint, domain.group}, &domain).second) return;
  by_name_.erase({domain.fingerprint, domain.group});
  domain.named = std::exchange(domain.fingerprint, std::move(fingerprint));
  domain.content = content;
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/sha256.h"
#include "front/prefix/digests.h"
#include "front/prefix/prefix_room.h"

namespace hearth::front {

// What the blocks below one root have in common.
struct BlockDomain {
  Digest root{};
  std::string artifact;  // that had it first; others of the same content may share it
  std::string content;   // SHA-256 of the model; empty: not known, and nothing goes to disk
  std::string group;
  std::string fingerprint;
  // The fingerprint that the root was made of: an older one, where the model's content became known
  // only after the first blocks.
  std::string named = {};

  friend bool operator==(const BlockDomain&, const BlockDomain&) = default;
};

// All that changes the values of a model's state, one `name=value` a line. What only changes how
// much of it there is (context limit, sequences) is not in it.
std::string fingerprint_of(const PrefixRoom::Use& use, const std::optional<std::string>& content);

// The same, once the content has become known.
std::string with_content(std::string fingerprint, const std::string& artifact,
                         const std::string& content);

Digest root_of(const BlockDomain& domain, const std::string& secret);

// All domains that were met, by root; their addresses are stable. Belongs to the loop.
class DomainBook {
 public:
  const BlockDomain* add(BlockDomain domain);
  const BlockDomain* find(const Digest& root) const;
  const BlockDomain* find(const std::string& fingerprint, const std::string& group) const;
  // The content of a domain's model has become known: from now on it can go to disk. Not while
  // another one has that name already.
  void learn(const Digest& root, const std::string& content);
  std::set<const BlockDomain*> where(const std::function<bool(const BlockDomain&)>& chosen) const;

 private:
  using Name = std::pair<std::string, std::string>;  // fingerprint and group

  DigestMap<std::unique_ptr<BlockDomain>> by_root_;
  std::map<Name, BlockDomain*> by_name_;
};

}  // namespace hearth::front

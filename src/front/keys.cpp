// SPDX-License-Identifier: Apache-2.0
#include "front/keys.h"

#include <array>

#include "base/sha256.h"

namespace hearth::front {
namespace {

constexpr std::array<std::string_view, 3> kRoles{"use", "read-only", "admin"};

}  // namespace

std::string_view name_of(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

std::optional<Role> role_named(std::string_view name) {
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    if (kRoles[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

std::string digest_of(std::string_view secret) { return hex_of(Sha256{}.add(secret).finish()); }

std::optional<KeyInfo> KeyRing::check(std::string_view presented) const {
  const std::string digest = digest_of(presented);
  const Kept* found = nullptr;
  for (const Kept& kept : keys_) {
    if (equal_(kept.digest, digest)) found = &kept;
  }
  if (found == nullptr) return std::nullopt;
  return found->info;
}

KeyRing KeyRing::with(Kept key) const {
  KeyRing ring = *this;
  ring.keys_.push_back(std::move(key));
  return ring;
}

KeyRing KeyRing::without(std::string_view id) const {
  KeyRing ring = *this;
  std::erase_if(ring.keys_, [&](const Kept& kept) { return kept.info.id == id; });
  return ring;
}

}  // namespace hearth::front

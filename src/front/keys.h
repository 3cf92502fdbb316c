// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/constant_time.h"

namespace hearth::front {

// What the holder of a key may do.
enum class Role {
  kUse,       // ask models, see which there are
  kReadOnly,  // see models, history, metrics and live events, ask nothing
  kAdmin,     // everything
};

std::string_view name_of(Role role);  // "use", "read-only", "admin"
std::optional<Role> role_named(std::string_view name);

struct KeyInfo {
  std::string id;  // short, random; not secret
  std::string name;
  Role role = Role::kUse;
  std::int64_t created_at_us = 0;
};

// The keys that clients of this server may show, as a snapshot: the store replaces it when a key
// comes or goes. Only SHA-256 digests are kept: a key has 256 random bits, so that no dictionary
// finds it, and neither salt nor a slow hash would add anything.
//
// Immutable; thread-safe.
class KeyRing {
 public:
  struct Kept {
    KeyInfo info;
    std::string digest;  // SHA-256 of the key, hexadecimal
  };
  // Compares two digests; tests count with their own.
  using Equal = bool (*)(std::string_view, std::string_view);

  KeyRing() = default;
  explicit KeyRing(std::vector<Kept> keys, Equal equal = equal_in_constant_time)
      : keys_{std::move(keys)}, equal_{equal} {}

  // Without keys the server is open to whoever reaches it.
  bool empty() const { return keys_.empty(); }
  const std::vector<Kept>& keys() const { return keys_; }

  // The ring after a key has come or gone.
  KeyRing with(Kept key) const;
  KeyRing without(std::string_view id) const;

  // Whose key this is; nothing for an unknown one. Takes the same time wherever a wrong key differs
  // from a right one: digests are compared whole, and with all that there are.
  std::optional<KeyInfo> check(std::string_view presented) const;

 private:
  std::vector<Kept> keys_;
  Equal equal_ = equal_in_constant_time;
};

// What is kept of a secret.
std::string digest_of(std::string_view secret);

struct NewKey {
  KeyInfo info;
  std::string secret;  // told once, kept nowhere
};

}  // namespace hearth::front

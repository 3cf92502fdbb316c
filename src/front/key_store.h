// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/secure_random.h"
#include "base/sqlite.h"
#include "front/keys.h"

namespace hearth::front {

// The keys on disk: one SQLite file with mode 0600 that holds names, roles and digests, never a
// secret. Synchronous: every call may wait for the disk. Belongs to one thread at a time, as its
// Database does; `clock` and `random` outlive it.
class KeyStore {
 public:
  // Makes the file where it is missing. A damaged one is refused, as an empty one in its place
  // would open the server to everybody.
  // Errors: kCorrupt, kConflict (written by a newer Hearth), kNoSpace, kUnavailable.
  static Result<KeyStore> open(const std::string& path, const Clock& clock,
                               const SecureRandom& random = SecureRandom::kernel());

  // Oldest first.
  Result<std::vector<KeyRing::Kept>> list();

  // The secret is "hearth-" and 43 characters of [A-Za-z0-9_-]: 256 random bits.
  // Errors: kInvalid (a name that is not 1 to 64 printable characters), kConflict (a name that is
  // taken; a first key that is not an admin's), and those of a disk.
  Result<NewKey> add(const std::string& name, Role role);

  // By id, or else by name. Errors: kNotFound, kConflict (the last admin's while others remain),
  // and those of a disk.
  Result<KeyInfo> remove(std::string_view id_or_name);

 private:
  KeyStore(Database db, const Clock& clock, const SecureRandom& random)
      : db_{std::move(db)}, clock_{&clock}, random_{&random} {}

  Result<NewKey> make(const std::string& name, Role role) const;
  Result<> insert(const NewKey& key);
  Result<> erase(const std::string& id);

  Database db_;
  const Clock* clock_;
  const SecureRandom* random_;
};

}  // namespace hearth::front

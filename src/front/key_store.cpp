// SPDX-License-Identifier: Apache-2.0
#include "front/key_store.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/json.h"
#include "base/sha256.h"

namespace hearth::front {
namespace {

constexpr std::size_t kLongestName = 64;  // characters

const std::vector<std::string> kMigrations{
    R"(CREATE TABLE keys (
         id TEXT PRIMARY KEY,
         name TEXT NOT NULL UNIQUE,
         role TEXT NOT NULL,
         digest TEXT NOT NULL UNIQUE,
         created_at INTEGER NOT NULL);)"};

// Controls of C0, DEL and C1 (C2 80 to C2 9F in UTF-8) move cursors and colours in a terminal.
bool has_controls(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const bool c1 =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) return true;
  }
  return false;
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

bool is_key_name(std::string_view name) {
  if (!is_utf8(name) || has_controls(name)) return false;
  const std::size_t length = characters_of(name);
  return length >= 1 && length <= kLongestName && name.front() != ' ' && name.back() != ' ';
}

Failed conflict(std::string message) { return fail(ErrorCode::kConflict, std::move(message)); }

}  // namespace

Result<KeyStore> KeyStore::open(const std::string& path, const Clock& clock,
                                const SecureRandom& random) {
  Result<Database> db = Database::open(path, Database::Damaged::kRefuse);
  if (!db && db.error().code() == ErrorCode::kCorrupt) {
    return fail(ErrorCode::kCorrupt, path + " is damaged (" + db.error().message() +
                                         "); without it, everybody could use this server. Move it "
                                         "away to start without keys");
  }
  if (!db) return Failed{std::move(db).error()};
  // A key that was taken back must not return with a power cut.
  if (auto set = db->execute("PRAGMA synchronous=FULL"); !set) {
    return Failed{std::move(set).error()};
  }
  if (auto migrated = db->migrate(kMigrations); !migrated) {
    return Failed{std::move(migrated).error()};
  }
  return KeyStore{std::move(*db), clock, random};
}

Result<std::vector<KeyRing::Kept>> KeyStore::list() {
  auto select = db_.prepare("SELECT id, name, role, created_at, digest FROM keys ORDER BY rowid");
  if (!select) return Failed{std::move(select).error()};
  std::vector<KeyRing::Kept> keys;
  for (;;) {
    const Result<bool> more = select->step();
    if (!more) return Failed{more.error()};
    if (!*more) return keys;
    const auto role = role_named(select->text(2));
    if (!role) return fail(ErrorCode::kCorrupt, "a key has the unknown role " + select->text(2));
    KeyInfo info{select->text(0), select->text(1), *role, select->integer(3)};
    keys.push_back({std::move(info), select->text(4)});
  }
}

Result<NewKey> KeyStore::add(const std::string& name, Role role) {
  if (!is_key_name(name)) {
    return Failed{Error{ErrorCode::kInvalid,
                        "name: 1 to 64 printable characters are expected, no space at either end"}
                      .at("name")};
  }
  const auto known = list();
  if (!known) return Failed{known.error()};
  const auto same = [&](const KeyRing::Kept& key) { return key.info.name == name; };
  if (std::ranges::any_of(*known, same)) {
    return conflict("there is a key with the name \"" + name + "\" already");
  }
  if (known->empty() && role != Role::kAdmin) {
    return conflict("the first key must have the role admin: nobody could add another one");
  }
  auto key = make(name, role);
  if (!key) return key;
  if (auto inserted = insert(*key); !inserted) return Failed{std::move(inserted).error()};
  return key;
}

Result<NewKey> KeyStore::make(const std::string& name, Role role) const {
  std::array<unsigned char, 32> secret{};
  std::array<unsigned char, 6> id{};
  if (auto filled = random_->fill(secret); !filled) return Failed{std::move(filled).error()};
  if (auto filled = random_->fill(id); !filled) return Failed{std::move(filled).error()};
  return NewKey{KeyInfo{"k" + hex_of(id), name, role, clock_->wall_us()},
                "hearth-" + base64url_of(secret)};
}

Result<> KeyStore::insert(const NewKey& key) {
  auto insert =
      db_.prepare("INSERT INTO keys (id, name, role, digest, created_at) VALUES (?, ?, ?, ?, ?)");
  if (!insert) return Failed{std::move(insert).error()};
  insert->bind(1, key.info.id).bind(2, key.info.name).bind(3, name_of(key.info.role));
  insert->bind(4, digest_of(key.secret)).bind(5, key.info.created_at_us);
  return insert->run();
}

Result<KeyInfo> KeyStore::remove(std::string_view id_or_name) {
  const auto known = list();
  if (!known) return Failed{known.error()};
  auto found = std::ranges::find(*known, id_or_name,
                                 [](const auto& key) -> std::string_view { return key.info.id; });
  if (found == known->end()) {
    found = std::ranges::find(*known, id_or_name,
                              [](const auto& key) -> std::string_view { return key.info.name; });
  }
  if (found == known->end()) {
    return fail(ErrorCode::kNotFound, "there is no key \"" + std::string{id_or_name} + "\"");
  }
  const auto admins =
      std::ranges::count_if(*known, [](const auto& key) { return key.info.role == Role::kAdmin; });
  if (found->info.role == Role::kAdmin && admins == 1 && known->size() > 1) {
    return conflict("this is the last admin's key; remove the others first, or add another admin");
  }
  if (auto erased = erase(found->info.id); !erased) return Failed{std::move(erased).error()};
  return found->info;
}

Result<> KeyStore::erase(const std::string& id) {
  auto erase = db_.prepare("DELETE FROM keys WHERE id = ?");
  if (!erase) return Failed{std::move(erase).error()};
  erase->bind(1, id);
  return erase->run();
}

}  // namespace hearth::front

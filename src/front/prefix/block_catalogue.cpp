// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/block_catalogue.h"

#include <charconv>

#include "base/log.h"
#include "front/prefix/digests.h"

namespace hearth::front {
namespace {

const std::vector<std::string> kMigrations{
    R"(CREATE TABLE blocks (
         digest TEXT PRIMARY KEY,
         root TEXT NOT NULL,
         parent TEXT NOT NULL,
         first INTEGER NOT NULL,
         bytes INTEGER NOT NULL,
         used_us INTEGER NOT NULL,
         hits INTEGER NOT NULL,
         module TEXT NOT NULL) WITHOUT ROWID;
       CREATE TABLE written (day INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);)",
    R"(ALTER TABLE blocks ADD COLUMN tokens TEXT NOT NULL DEFAULT '';)"};

// With a space behind each.
std::string text_of(const std::vector<int>& tokens) {
  std::string text;
  for (const int token : tokens) text += std::to_string(token) + ' ';
  return text;
}

// None where it makes no sense.
std::vector<int> tokens_of(const std::string& text) {
  std::vector<int> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int token = 0;
    const auto [next, error] = std::from_chars(at, end, token);
    if (error != std::errc{} || next == end || *next != ' ') return {};
    tokens.push_back(token);
    at = next + 1;
  }
  return tokens;
}

std::optional<BlockCatalogue::Row> row_of(const Statement& select) {
  const auto digest = digest_of_hex(select.text(0));
  const auto root = digest_of_hex(select.text(1));
  const auto parent = digest_of_hex(select.text(2));
  const std::int64_t first = select.integer(3);
  const std::int64_t bytes = select.integer(4);
  if (!digest || !root || !parent || first < 0 || bytes < 0) return std::nullopt;
  BlockCatalogue::Row row;
  row.digest = *digest;
  row.root = *root;
  row.parent = *parent;
  row.first = static_cast<std::uint32_t>(first);
  row.bytes = Bytes{static_cast<std::uint64_t>(bytes)};
  row.used_us = select.integer(5);
  row.hits = static_cast<int>(select.integer(6));
  row.module = select.text(7);
  row.tokens = tokens_of(select.text(8));
  return row;
}

}  // namespace

void BlockCatalogue::open(const std::string& path) {
  const std::lock_guard lock{mutex_};
  Result<Database> db = Database::open(path);
  if (!db) return complain(db.error());
  if (auto migrated = db->migrate(kMigrations); !migrated) return complain(migrated.error());
  // What is deleted is to be gone: rows have the tokens of prompts.
  if (auto set = db->execute("PRAGMA secure_delete = ON"); !set) return complain(set.error());
  db_ = std::move(*db);
}

std::vector<BlockCatalogue::Row> BlockCatalogue::rows() {
  const std::lock_guard lock{mutex_};
  std::vector<Row> rows;
  if (!db_) return rows;
  auto select = db_->prepare(
      "SELECT digest, root, parent, first, bytes, used_us, hits, module, tokens FROM blocks");
  if (!select) {
    complain(select.error());
    return rows;
  }
  for (;;) {
    const Result<bool> more = select->step();
    if (!more) complain(more.error());
    if (!more || !*more) return rows;
    if (auto row = row_of(*select)) rows.push_back(std::move(*row));
  }
}

void BlockCatalogue::note(const Change& change) {
  const std::lock_guard lock{mutex_};
  if (!db_) return;
  if (const Result<> written = write(change); !written) complain(written.error());
}

Result<> BlockCatalogue::write(const Change& change) {
  Result<Transaction> transaction = Transaction::begin(*db_);
  if (!transaction) return Failed{transaction.error()};
  if (auto done = remove(change.removed); !done) return done;
  if (auto done = put(change.put); !done) return done;
  if (change.day.written > Bytes{}) {
    auto insert = db_->prepare("INSERT OR REPLACE INTO written (day, bytes) VALUES (?, ?)");
    if (!insert) return Failed{insert.error()};
    insert->bind(1, change.day.day);
    insert->bind(2, static_cast<std::int64_t>(change.day.written.count()));
    if (auto done = insert->run(); !done) return done;
    auto forget = db_->prepare("DELETE FROM written WHERE day < ?");
    if (!forget) return Failed{forget.error()};
    forget->bind(1, change.day.day);
    if (auto done = forget->run(); !done) return done;
  }
  return transaction->commit();
}

Result<> BlockCatalogue::put(const std::vector<Row>& rows) {
  auto insert = db_->prepare(
      "INSERT OR REPLACE INTO blocks (digest, root, parent, first, bytes, used_us, hits, module, "
      "tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return Failed{insert.error()};
  for (const Row& row : rows) {
    const std::string digest = hex_of(row.digest);
    const std::string root = hex_of(row.root);
    const std::string parent = hex_of(row.parent);
    insert->bind(1, digest).bind(2, root).bind(3, parent).bind(4, std::int64_t{row.first});
    insert->bind(5, static_cast<std::int64_t>(row.bytes.count())).bind(6, row.used_us);
    const std::string tokens = text_of(row.tokens);
    insert->bind(7, std::int64_t{row.hits}).bind(8, row.module).bind(9, tokens);
    if (auto done = insert->run(); !done) return done;
  }
  return {};
}

Result<> BlockCatalogue::remove(const std::vector<Digest>& digests) {
  auto erase = db_->prepare("DELETE FROM blocks WHERE digest = ?");
  if (!erase) return Failed{erase.error()};
  for (const Digest& digest : digests) {
    const std::string name = hex_of(digest);
    erase->bind(1, name);
    if (auto done = erase->run(); !done) return done;
  }
  return {};
}

WriteBudget::State BlockCatalogue::last_day() {
  const std::lock_guard lock{mutex_};
  if (!db_) return {};
  auto select = db_->prepare("SELECT day, bytes FROM written ORDER BY day DESC LIMIT 1");
  if (!select) return {};
  const Result<bool> found = select->step();
  if (!found || !*found || select->integer(1) < 0) return {};
  return {select->integer(0), Bytes{static_cast<std::uint64_t>(select->integer(1))}};
}

void BlockCatalogue::complain(const Error& error) {
  if (complained_) return;
  complained_ = true;
  log::warn("prefix.catalogue", {{"reason", error.message()}});
}

}  // namespace hearth::front

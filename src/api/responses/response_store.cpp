// SPDX-License-Identifier: Apache-2.0
#include "api/responses/response_store.h"

#include <algorithm>
#include <utility>

namespace hearth::api::responses {
namespace {

const std::vector<std::string>& schema() {
  static const std::vector<std::string> steps{
      "CREATE TABLE responses("
      "  id TEXT PRIMARY KEY,"
      "  key TEXT NOT NULL,"
      "  previous TEXT NOT NULL,"
      "  used_us INTEGER NOT NULL,"
      "  bytes INTEGER NOT NULL,"
      "  body TEXT NOT NULL,"
      "  input TEXT NOT NULL);"
      "CREATE INDEX responses_by_use ON responses(used_us);"};
  return steps;
}

constexpr std::string_view kInsert =
    "INSERT OR REPLACE INTO responses(id, key, previous, used_us, bytes, body, input) "
    "VALUES(?, ?, ?, ?, ?, ?, ?)";
constexpr std::string_view kSelect =
    "SELECT previous, body, input FROM responses WHERE id = ? AND key = ?";
constexpr std::string_view kRemove = "DELETE FROM responses WHERE id = ? AND key = ?";
constexpr std::string_view kUse = "UPDATE responses SET used_us = ? WHERE id = ?";
constexpr std::string_view kForgetUnused = "DELETE FROM responses WHERE used_us < ?";
constexpr std::string_view kSizes = "SELECT count(*), total(bytes) FROM responses";
constexpr std::string_view kForgetOldest =
    "DELETE FROM responses WHERE id IN (SELECT id FROM responses ORDER BY used_us, rowid LIMIT ?)";

Failed not_kept(std::string_view id) {
  return fail(ErrorCode::kNotFound, "there is no response \"" + std::string{id} +
                                        "\": it was not kept, was deleted, or is too old");
}

}  // namespace

Result<ResponseStore> ResponseStore::open(const std::string& path, const Clock& clock,
                                          StoreLimits limits) {
  Result<Database> db = Database::open(path);
  if (!db) return Failed{std::move(db).error().during("responses")};
  // What is deleted must not stay readable in the file.
  if (Result<> done = db->execute("PRAGMA secure_delete = ON"); !done) {
    return Failed{std::move(done).error().during("responses")};
  }
  if (Result<> done = db->migrate(schema()); !done) {
    return Failed{std::move(done).error().during("responses")};
  }
  ResponseStore store{std::move(*db), clock, limits};
  if (Result<> done = store.prune(); !done) return Failed{std::move(done).error()};
  return store;
}

Result<> ResponseStore::put(const StoredResponse& response) {
  Result<Statement> insert = db_.prepare(kInsert);
  if (!insert) return Failed{std::move(insert).error().during("responses")};
  insert->bind(1, response.id)
      .bind(2, response.key)
      .bind(3, response.previous)
      .bind(4, clock_->wall_us())
      .bind(5, static_cast<std::int64_t>(response.body.size() + response.input.size()))
      .bind(6, response.body)
      .bind(7, response.input);
  if (Result<> done = insert->run(); !done) {
    return Failed{std::move(done).error().during("responses")};
  }
  return prune();
}

Result<StoredResponse> ResponseStore::get(std::string_view key, std::string_view id) {
  Result<Statement> select = db_.prepare(kSelect);
  if (!select) return Failed{std::move(select).error().during("responses")};
  const Result<bool> row = select->bind(1, id).bind(2, key).step();
  if (!row) return Failed{Error{row.error()}.during("responses")};
  if (!*row) return not_kept(id);
  return StoredResponse{std::string{id}, std::string{key}, select->text(0), select->text(1),
                        select->text(2)};
}

Result<std::vector<StoredResponse>> ResponseStore::conversation(std::string_view key,
                                                                std::string_view id) {
  std::vector<StoredResponse> turns;
  std::string next{id};
  while (!next.empty()) {
    Result<StoredResponse> turn = get(key, next);
    if (!turn) return Failed{std::move(turn).error()};
    if (turns.size() >= kMostTurns) return not_kept(next);
    next = turn->previous;
    turns.push_back(std::move(*turn));
  }
  if (Result<> used = touch(turns); !used) return Failed{std::move(used).error()};
  std::ranges::reverse(turns);
  return turns;
}

Result<> ResponseStore::remove(std::string_view key, std::string_view id) {
  Result<Statement> statement = db_.prepare(kRemove);
  if (!statement) return Failed{std::move(statement).error().during("responses")};
  if (Result<> done = statement->bind(1, id).bind(2, key).run(); !done) {
    return Failed{std::move(done).error().during("responses")};
  }
  if (db_.changes() == 0) return not_kept(id);
  return {};
}

Result<> ResponseStore::touch(const std::vector<StoredResponse>& turns) {
  Result<Transaction> transaction = Transaction::begin(db_);
  if (!transaction) return Failed{std::move(transaction).error().during("responses")};
  Result<Statement> use = db_.prepare(kUse);
  if (!use) return Failed{std::move(use).error().during("responses")};
  const std::int64_t now = clock_->wall_us();
  for (const StoredResponse& turn : turns) {
    if (Result<> done = use->bind(1, now).bind(2, turn.id).run(); !done) {
      return Failed{std::move(done).error().during("responses")};
    }
  }
  return transaction->commit();
}

Result<> ResponseStore::prune() {
  const auto kept_us = std::chrono::duration_cast<std::chrono::microseconds>(limits_.unused);
  Result<Statement> forget = db_.prepare(kForgetUnused);
  if (!forget) return Failed{std::move(forget).error().during("responses")};
  const std::int64_t since = clock_->wall_us() - kept_us.count();
  if (Result<> done = forget->bind(1, since).run(); !done) {
    return Failed{std::move(done).error().during("responses")};
  }
  for (;;) {
    Result<Statement> sizes = db_.prepare(kSizes);
    if (!sizes) return Failed{std::move(sizes).error().during("responses")};
    const Result<bool> row = sizes->step();
    if (!row) return Failed{Error{row.error()}.during("responses")};
    const std::int64_t rows = sizes->integer(0);
    const bool fits = sizes->integer(1) <= static_cast<std::int64_t>(limits_.bytes.count());
    if (rows == 0 || (fits && rows <= limits_.rows)) return {};
    // A tenth at once, where it is the bytes: they are counted anew after each round.
    const std::int64_t drop =
        std::max<std::int64_t>({1, rows - limits_.rows, fits ? 0 : rows / 10});
    if (Result<> done = drop_least_used(drop); !done) return done;
  }
}

Result<> ResponseStore::drop_least_used(std::int64_t count) {
  Result<Statement> forget = db_.prepare(kForgetOldest);
  if (!forget) return Failed{std::move(forget).error().during("responses")};
  if (Result<> done = forget->bind(1, count).run(); !done) {
    return Failed{std::move(done).error().during("responses")};
  }
  return {};
}

}  // namespace hearth::api::responses

// SPDX-License-Identifier: Apache-2.0
#include "timeline/history.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace hearth {
namespace {

constexpr int kMostListed = 1000;

const std::vector<std::string>& schema() {
  static const std::vector<std::string> steps{
      "CREATE TABLE requests("
      "  sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
      "  request_id TEXT NOT NULL UNIQUE,"
      "  started_us INTEGER NOT NULL,"
      "  model TEXT NOT NULL,"
      "  class TEXT NOT NULL,"
      "  outcome TEXT NOT NULL,"
      "  bytes INTEGER NOT NULL,"
      "  json TEXT NOT NULL);"
      "CREATE INDEX requests_by_model ON requests(model, sequence);"
      "CREATE INDEX requests_by_class ON requests(class, sequence);"};
  return steps;
}

constexpr std::string_view kInsert =
    "INSERT INTO requests(request_id, started_us, model, class, outcome, bytes, json) "
    "VALUES(?, ?, ?, ?, ?, ?, ?)";

constexpr std::string_view kForgetOne = "DELETE FROM requests WHERE request_id = ? RETURNING bytes";
constexpr std::string_view kForgetOld = "DELETE FROM requests WHERE sequence < ? RETURNING bytes";

// The first column of a query's only row.
Result<std::int64_t> single_integer(Database& db, std::string_view sql) {
  Result<Statement> statement = db.prepare(sql);
  if (!statement) return Failed{std::move(statement).error()};
  Result<bool> row = statement->step();
  if (!row) return Failed{std::move(row).error()};
  return statement->integer(0);
}

std::string_view class_of(const RequestReport& report) {
  return report.response_class ? name_of(*report.response_class) : std::string_view{};
}

std::string select_sql(const HistoryQuery& query) {
  std::string sql = "SELECT json FROM requests WHERE sequence < ";
  sql += query.before.empty()
             ? "?1"
             : "coalesce((SELECT sequence FROM requests WHERE request_id = ?1), 0)";
  if (!query.model.empty()) sql += " AND model = ?2";
  if (query.response_class) sql += " AND class = ?3";
  return sql + " ORDER BY sequence DESC LIMIT ?4";
}

void bind_query(Statement& statement, const HistoryQuery& query) {
  if (query.before.empty()) {
    statement.bind(1, std::numeric_limits<std::int64_t>::max());
  } else {
    statement.bind(1, query.before);
  }
  if (!query.model.empty()) statement.bind(2, query.model);
  if (query.response_class) statement.bind(3, name_of(*query.response_class));
  statement.bind(4, static_cast<std::int64_t>(std::clamp(query.limit, 1, kMostListed)));
}

}  // namespace

History::History(Database db, Statement insert, Statement forget_one, HistoryLimits limits)
    : db_{std::move(db)},
      insert_{std::move(insert)},
      forget_one_{std::move(forget_one)},
      limits_{limits} {}

Result<History> History::open(const std::string& path, HistoryLimits limits) {
  Result<Database> db = Database::open(path);
  if (!db) return Failed{std::move(db).error().during("history")};
  if (Result<> done = db->migrate(schema()); !done) {
    return Failed{std::move(done).error().during("history")};
  }
  Result<Statement> insert = db->prepare(kInsert);
  if (!insert) return Failed{std::move(insert).error().during("history")};
  Result<Statement> forget_one = db->prepare(kForgetOne);
  if (!forget_one) return Failed{std::move(forget_one).error().during("history")};
  History history{std::move(*db), std::move(*insert), std::move(*forget_one), limits};
  Result<std::int64_t> bytes = single_integer(history.db_, "SELECT total(bytes) FROM requests");
  if (!bytes) return Failed{std::move(bytes).error().during("history")};
  history.bytes_ = *bytes;
  if (Result<> pruned = history.prune(); !pruned) return Failed{std::move(pruned).error()};
  return history;
}

Result<> History::add(const RequestReport& report) {
  const std::string json = to_history_json(report);
  const auto size = static_cast<std::int64_t>(json.size());
  forget_one_.bind(1, report.request_id);
  if (Result<> done = run_deletion(forget_one_); !done) return done;
  insert_.bind(1, report.request_id)
      .bind(2, report.started_wall_us)
      .bind(3, report.model)
      .bind(4, class_of(report))
      .bind(5, name_of(report.outcome))
      .bind(6, size)
      .bind(7, json);
  if (Result<> done = insert_.run(); !done)
    return Failed{std::move(done).error().during("history")};
  bytes_ += size;
  if (++since_prune_ < kPruneEvery) return {};
  return prune();
}

Result<std::string> History::get(const std::string& request_id) {
  Result<Statement> found = db_.prepare("SELECT json FROM requests WHERE request_id = ?");
  if (!found) return Failed{std::move(found).error()};
  Result<bool> row = found->bind(1, request_id).step();
  if (!row) return Failed{std::move(row).error()};
  if (!*row) return fail(ErrorCode::kNotFound, "no request with this id is in the history");
  return found->text(0);
}

Result<std::vector<std::string>> History::list(const HistoryQuery& query) {
  Result<Statement> rows = db_.prepare(select_sql(query));
  if (!rows) return Failed{std::move(rows).error()};
  bind_query(*rows, query);
  std::vector<std::string> entries;
  for (;;) {
    Result<bool> more = rows->step();
    if (!more) return Failed{std::move(more).error()};
    if (!*more) return entries;
    entries.push_back(rows->text(0));
  }
}

Result<> History::prune() {
  since_prune_ = 0;
  Result<std::int64_t> newest = single_integer(db_, "SELECT max(sequence) FROM requests");
  if (!newest) return Failed{std::move(newest).error()};
  // Sequences have gaps only where an id came twice, so this keeps at most `rows`.
  Result<> done = forget_before(*newest - limits_.rows + 1);
  if (!done || bytes_ <= static_cast<std::int64_t>(limits_.bytes.count())) return done;
  Result<std::int64_t> first_kept = sequence_to_fit();
  if (!first_kept) return Failed{std::move(first_kept).error()};
  return forget_before(*first_kept);
}

Result<std::int64_t> History::sequence_to_fit() {
  Result<Statement> oldest = db_.prepare("SELECT sequence, bytes FROM requests ORDER BY sequence");
  if (!oldest) return Failed{std::move(oldest).error()};
  std::int64_t left = bytes_;
  for (;;) {
    Result<bool> more = oldest->step();
    if (!more) return Failed{std::move(more).error()};
    if (!*more) return std::numeric_limits<std::int64_t>::max();
    if (left <= static_cast<std::int64_t>(limits_.bytes.count())) return oldest->integer(0);
    left -= oldest->integer(1);
  }
}

Result<> History::forget_before(std::int64_t sequence) {
  Result<Statement> forget = db_.prepare(kForgetOld);
  if (!forget) return Failed{std::move(forget).error()};
  forget->bind(1, sequence);
  return run_deletion(*forget);
}

Result<> History::run_deletion(Statement& deletion) {
  for (;;) {
    Result<bool> more = deletion.step();
    if (!more || !*more) {
      deletion.reset();
      if (!more) return Failed{std::move(more).error().during("history")};
      return {};
    }
    bytes_ -= deletion.integer(0);
  }
}

}  // namespace hearth

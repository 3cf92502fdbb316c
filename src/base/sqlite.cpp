// SPDX-License-Identifier: Apache-2.0
#include "base/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/fd.h"
#include "base/log.h"

namespace hearth {
namespace {

ErrorCode code_for(int sqlite_error) {
  switch (sqlite_error & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::kNoSpace;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    default:
      return ErrorCode::kUnavailable;
  }
}

constexpr int kBusyMilliseconds = 5000;

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  ::sqlite3_finalize(statement);
}
void Database::Close::operator()(sqlite3* db) const { ::sqlite3_close_v2(db); }

Statement& Statement::bind(int index, std::int64_t value) {
  if (const int rc = ::sqlite3_bind_int64(statement_.get(), index, value)) bind_error_ = rc;
  return *this;
}

Statement& Statement::bind(int index, double value) {
  if (const int rc = ::sqlite3_bind_double(statement_.get(), index, value)) bind_error_ = rc;
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  // A default string_view has no data, which SQLite would take for NULL.
  const char* data = value.data() == nullptr ? "" : value.data();
  const int rc = ::sqlite3_bind_text64(statement_.get(), index, data, value.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (rc != SQLITE_OK) bind_error_ = rc;
  return *this;
}

Statement& Statement::bind_null(int index) {
  if (const int rc = ::sqlite3_bind_null(statement_.get(), index)) bind_error_ = rc;
  return *this;
}

Result<bool> Statement::step() {
  const int rc = bind_error_ != 0 ? bind_error_ : ::sqlite3_step(statement_.get());
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  return fail(code_for(rc), std::string{"database: "} + ::sqlite3_errstr(rc));
}

Result<> Statement::run() {
  for (;;) {
    Result<bool> more = step();
    if (!more || !*more) {
      reset();
      if (!more) return Failed{std::move(more).error()};
      return {};
    }
  }
}

void Statement::reset() {
  ::sqlite3_reset(statement_.get());
  ::sqlite3_clear_bindings(statement_.get());
  bind_error_ = 0;
}

std::int64_t Statement::integer(int column) const {
  return ::sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return ::sqlite3_column_double(statement_.get(), column);
}
bool Statement::is_null(int column) const {
  return ::sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(::sqlite3_column_text(statement_.get(), column));
  const int size = ::sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string{} : std::string{data, static_cast<std::size_t>(size)};
}

Failed Database::failed(std::string_view attempt) const {
  const int rc = ::sqlite3_extended_errcode(db_.get());
  return fail(code_for(rc), std::string{attempt} + ": " + ::sqlite3_errmsg(db_.get()));
}

Result<Database> Database::open_once(const std::string& path) {
  if (path != ":memory:") {
    // SQLite would create it with the umask's mode; names and timings are nobody else's business.
    const Fd created{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!created) return fail_errno("open database", errno);
  }
  Database database;
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int rc = ::sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  database.db_.reset(raw);
  if (rc != SQLITE_OK)
    return fail(code_for(rc), std::string{"open database: "} + ::sqlite3_errstr(rc));
  ::sqlite3_busy_timeout(raw, kBusyMilliseconds);
  if (auto set = database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                                  "PRAGMA foreign_keys=ON; SELECT count(*) FROM sqlite_master;");
      !set) {
    return Failed{std::move(set).error()};
  }
  return database;
}

Result<Database> Database::open(const std::string& path, Damaged damaged) {
  Result<Database> first = open_once(path);
  if (first || first.error().code() != ErrorCode::kCorrupt) return first;
  if (damaged == Damaged::kRefuse) return first;
  for (int n = 1; n < 100; ++n) {
    const std::string aside = path + ".broken-" + std::to_string(n);
    if (::access(aside.c_str(), F_OK) == 0) continue;
    if (::rename(path.c_str(), aside.c_str()) != 0) break;
    ::unlink((path + "-wal").c_str());
    ::unlink((path + "-shm").c_str());
    log::warn("database.replaced", {{"path", path}, {"kept_as", aside}});
    Result<Database> second = open_once(path);
    if (second) second->was_replaced_ = true;
    return second;
  }
  return first;
}

Result<> Database::execute(const std::string& sql) {
  if (::sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failed("database");
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int rc =
      ::sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (rc != SQLITE_OK) return failed("prepare");
  return Statement{raw};
}

Result<> Database::migrate(const std::vector<std::string>& steps) {
  Result<Statement> version = prepare("PRAGMA user_version");
  if (!version) return Failed{std::move(version).error()};
  if (auto row = version->step(); !row) return Failed{std::move(row).error()};
  auto at = static_cast<std::size_t>(version->integer(0));
  version->reset();
  if (at > steps.size()) {
    return fail(ErrorCode::kConflict, "the database was written by a newer Hearth (schema " +
                                          std::to_string(at) + ", known " +
                                          std::to_string(steps.size()) + ")");
  }
  for (; at < steps.size(); ++at) {
    Result<Transaction> transaction = Transaction::begin(*this);
    if (!transaction) return Failed{std::move(transaction).error()};
    if (auto done = execute(steps[at]); !done) return done;
    if (auto done = execute("PRAGMA user_version=" + std::to_string(at + 1)); !done) return done;
    if (auto done = transaction->commit(); !done) return done;
  }
  return {};
}

std::int64_t Database::last_insert_id() const { return ::sqlite3_last_insert_rowid(db_.get()); }
std::int64_t Database::changes() const { return ::sqlite3_changes(db_.get()); }

Result<Transaction> Transaction::begin(Database& db) {
  if (auto begun = db.execute("BEGIN IMMEDIATE"); !begun) return Failed{std::move(begun).error()};
  return Transaction{db};
}

Result<> Transaction::commit() {
  Database* db = std::exchange(db_, nullptr);
  Result<> done = db->execute("COMMIT");
  if (!done) {
    [[maybe_unused]] auto rolled_back = db->execute("ROLLBACK");
  }
  return done;
}

Transaction::~Transaction() {
  if (db_ == nullptr) return;
  [[maybe_unused]] auto rolled_back = db_->execute("ROLLBACK");
}

}  // namespace hearth

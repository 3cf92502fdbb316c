// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hearth {

// One prepared statement. Bind with bind(1, ...), then either run() it or step() through its rows.
// Errors stick: a failed bind shows in the next step() or run(). Belongs to its Database's thread.
class Statement {
 public:
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) noexcept = default;

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);
  Statement& bind_null(int index);

  // True when there is a row to read, false after the last one.
  Result<bool> step();
  // To the end, ignoring rows; then ready to be bound again.
  Result<> run();
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_{statement} {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_error_ = 0;
};

// One SQLite connection (WAL, foreign keys on, 5 s busy time-out). Belongs to one thread at a time.
class Database {
 public:
  // What becomes of a file that is no database.
  enum class Damaged {
    kReplace,  // moved aside to "<path>.broken-<n>" and a new one begun, which was_replaced() says
    kRefuse,   // kCorrupt
  };

  // Creates the file with mode 0600 when it is missing. ":memory:" works. By default a damaged file
  // is replaced: a damaged history must not keep a server from starting.
  // Errors: kNoSpace, kUnavailable, kCorrupt (with kRefuse only).
  static Result<Database> open(const std::string& path, Damaged damaged = Damaged::kReplace);

  bool was_replaced() const { return was_replaced_; }

  // One or several statements without parameters.
  Result<> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);

  // Brings user_version up to steps.size() by running the missing steps, each in a transaction.
  // Errors: kConflict when the file was written by a newer Hearth.
  Result<> migrate(const std::vector<std::string>& steps);

  std::int64_t last_insert_id() const;
  std::int64_t changes() const;

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Failed failed(std::string_view attempt) const;
  static Result<Database> open_once(const std::string& path);

  std::unique_ptr<sqlite3, Close> db_;
  bool was_replaced_ = false;
};

// BEGIN IMMEDIATE ... COMMIT; rolls back unless commit() was called.
class Transaction {
 public:
  static Result<Transaction> begin(Database& db);
  Transaction(Transaction&& other) noexcept : db_{std::exchange(other.db_, nullptr)} {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<> commit();

 private:
  explicit Transaction(Database& db) : db_{&db} {}
  Database* db_;  // null once committed; not owned
};

}  // namespace hearth

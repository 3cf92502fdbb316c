// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "timeline/report.h"
#include "timeline/response_class.h"

namespace hearth {

struct HistoryLimits {
  std::int64_t rows = 10'000;
  Bytes bytes{std::uint64_t{64} << 20};  // of entries; the file is a little larger
};

struct HistoryQuery {
  int limit = 100;       // 1 to 1000; what lies outside is brought inside
  std::string before{};  // a request id: only what was added before it. Empty: from the newest
  std::string model{};   // empty: all
  std::optional<ResponseClass> response_class{};
};

// The last requests, oldest forgotten first, on disk. Survives restarts, knows no prompt and no
// reply. Synchronous: every call may wait for the disk. Belongs to one thread at a time, as its
// Database does.
class History {
 public:
  // A file that is no database is moved aside and a new one begun.
  // Errors: kConflict (written by a newer Hearth), kNoSpace, kUnavailable.
  static Result<History> open(const std::string& path, HistoryLimits limits = {});

  // A second entry with the same request id replaces the first. The limits are exceeded by at most
  // kPruneEvery entries.
  Result<> add(const RequestReport& report);

  // The entry's JSON, see to_history_json(). Errors: kNotFound.
  Result<std::string> get(const std::string& request_id);

  // Newest first, each as its JSON. A `before` that has been forgotten has nothing before it:
  // empty.
  Result<std::vector<std::string>> list(const HistoryQuery& query);

  static constexpr int kPruneEvery = 64;

 private:
  History(Database db, Statement insert, Statement forget_one, HistoryLimits limits);
  Result<> prune();
  Result<> forget_before(std::int64_t sequence);
  Result<> run_deletion(Statement& deletion);
  Result<std::int64_t> sequence_to_fit();  // the first that can stay within the byte limit

  Database db_;
  Statement insert_;
  Statement forget_one_;
  HistoryLimits limits_;
  std::int64_t bytes_ = 0;
  int since_prune_ = 0;
};

}  // namespace hearth

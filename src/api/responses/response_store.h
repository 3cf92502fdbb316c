// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"

namespace hearth::api::responses {

// A reply that was kept, with what was asked, so that a later request can go on from it.
struct StoredResponse {
  std::string id;
  std::string key;       // the id of the key that asked; empty: a server without keys
  std::string previous;  // the id of the one it went on from; empty: none
  std::string body;      // JSON object, as it was answered
  std::string input;     // JSON list: its own items, not those of earlier ones
};

struct StoreLimits {
  std::int64_t rows = 10'000;
  Bytes bytes{std::uint64_t{64} << 20};
  std::chrono::hours unused{24 * 30};  // kept so long after its last use
};

// Conversations that clients of /v1/responses leave here: one SQLite file, mode 0600. It holds
// prompts and replies in plain text. What was used least lately goes first. Each text is kept once,
// with the response it belongs to: deleting that really deletes it.
//
// Nobody sees what another key has left. Synchronous: every call may wait for the disk. Belongs to
// one thread at a time, as its Database does; the clock outlives it.
class ResponseStore {
 public:
  // A file that is no database is moved aside and a new one begun.
  // Errors: kConflict (written by a newer Hearth), kNoSpace, kUnavailable.
  static Result<ResponseStore> open(const std::string& path, const Clock& clock,
                                    StoreLimits limits = {});

  // One with the same id is replaced. Errors: those of a disk.
  Result<> put(const StoredResponse& response);
  // Errors: kNotFound, and those of a disk.
  Result<StoredResponse> get(std::string_view key, std::string_view id);
  // The response and all that it went on from, oldest first; all of them count as used now.
  // Errors: kNotFound, when one of them is gone; those of a disk.
  Result<std::vector<StoredResponse>> conversation(std::string_view key, std::string_view id);
  // Errors: kNotFound, and those of a disk.
  Result<> remove(std::string_view key, std::string_view id);

  static constexpr std::size_t kMostTurns = 4096;  // of one conversation

 private:
  ResponseStore(Database db, const Clock& clock, StoreLimits limits)
      : db_{std::move(db)}, clock_{&clock}, limits_{limits} {}

  Result<> prune();
  Result<> drop_least_used(std::int64_t count);
  Result<> touch(const std::vector<StoredResponse>& turns);

  Database db_;
  const Clock* clock_;
  StoreLimits limits_;
};

}  // namespace hearth::api::responses

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"
#include "base/sqlite.h"
#include "layers/prefix/write_budget.h"

namespace hearth::front {

// What is known of the records on disk without opening each: an SQLite file that may be lost at any
// time, since all but the uses can be made anew from the records. Where it cannot be written, the
// records are still used.
//
// Thread-safe; every call blocks.
class BlockCatalogue {
 public:
  struct Row {
    Digest digest{};
    Digest root{};
    Digest parent{};
    std::uint32_t first = 0;
    Bytes bytes;
    std::vector<int> tokens;  // none: not noted, by an older version
    std::int64_t used_us = 0;
    int hits = 0;
    std::string module;
  };

  // A damaged file is moved aside and a new one begun.
  void open(const std::string& path);

  // Rows that make no sense are left out.
  std::vector<Row> rows();

  // What a batch of changes did; all or nothing of it is noted.
  struct Change {
    std::vector<Row> put;
    std::vector<Digest> removed;
    WriteBudget::State day;
  };
  void note(const Change& change);
  // The last day with any, and what was written on it.
  WriteBudget::State last_day();

 private:
  Result<> write(const Change& change);
  Result<> put(const std::vector<Row>& rows);
  Result<> remove(const std::vector<Digest>& digests);
  void complain(const Error& error);

  std::mutex mutex_;  // guards all below
  std::optional<Database> db_;
  bool complained_ = false;
};

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/async.h"
#include "base/bytes.h"
#include "base/result.h"

namespace hearth {

// What is kept of prompts beyond the cells of a worker, as the prefix layer needs it. A block that
// is both in memory and on disk counts in both. Belongs to the loop.
class StoredPrefixes {
 public:
  struct Amount {
    std::int64_t memory_tokens = 0;
    std::int64_t disk_tokens = 0;
    Bytes memory;
    Bytes disk;
  };

  virtual ~StoredPrefixes() = default;

  virtual Amount amount(const std::string& artifact) const = 0;

  // Deletes what is kept of this model's prompts; the bytes given back. Errors: kUnavailable.
  virtual Task<Result<Bytes>> drop(std::string artifact) = 0;

  // Writes to disk what is in memory only, and gives the memory back; its bytes. Errors: kNoSpace.
  virtual Task<Result<Bytes>> spill(std::string artifact) = 0;
};

// Where nothing is kept. Stateless.
class NoStoredPrefixes : public StoredPrefixes {
 public:
  Amount amount(const std::string&) const override { return {}; }
  Task<Result<Bytes>> drop(std::string) override { co_return Bytes{}; }
  Task<Result<Bytes>> spill(std::string) override { co_return Bytes{}; }

  static NoStoredPrefixes& instance() {
    static NoStoredPrefixes none;
    return none;
  }
};

}  // namespace hearth

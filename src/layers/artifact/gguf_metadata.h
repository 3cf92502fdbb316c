// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "layers/artifact/header_cursor.h"

namespace hearth::gguf {

// The key-value part of a header: the few values Hearth uses, and the names of all keys.
class Metadata {
 public:
  // Reads `count` pairs. Refuses duplicate keys, unknown types and arrays of arrays; what went
  // wrong is the cursor's to tell.
  void read(HeaderCursor& cursor, std::uint64_t count);

  bool has(const std::string& key) const { return keys_.contains(key); }
  std::optional<std::uint64_t> integer(const std::string& key) const;
  std::string text(const std::string& key) const;

 private:
  void read_pair(HeaderCursor& cursor);
  void read_value(HeaderCursor& cursor, const std::string& key, std::uint32_t raw_type);

  std::unordered_set<std::string> keys_;
  std::unordered_map<std::string, std::uint64_t> integers_;
  std::unordered_map<std::string, std::string> texts_;
};

}  // namespace hearth::gguf

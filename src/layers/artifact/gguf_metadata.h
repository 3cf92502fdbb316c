// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "layers/artifact/gguf_types.h"
#include "layers/artifact/header_cursor.h"

namespace hearth::gguf {

// The beginning of one key-value pair; its value comes next.
struct PairHead {
  std::string key;
  ValueType type = ValueType::kUint8;
  std::string what;  // for messages: 'metadata key "general.name"'
};
// nullopt: what went wrong is the cursor's to tell.
std::optional<PairHead> read_pair_head(HeaderCursor& cursor);

// The beginning of an array whose values have room in the file. Arrays of arrays are refused.
struct ArrayHead {
  ValueType type = ValueType::kUint8;
  std::uint64_t count = 0;
};
std::optional<ArrayHead> read_array_head(HeaderCursor& cursor, std::string_view what);
void skip_values(HeaderCursor& cursor, const ArrayHead& array, std::string_view what);

// False, and the cursor has failed, for a count of pairs that cannot be.
bool plausible_pairs(HeaderCursor& cursor, std::uint64_t count);

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
  void read_value(HeaderCursor& cursor, const PairHead& head);

  std::unordered_set<std::string> keys_;
  std::unordered_map<std::string, std::uint64_t> integers_;
  std::unordered_map<std::string, std::string> texts_;
};

}  // namespace hearth::gguf

// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "layers/artifact/gguf_types.h"

namespace hearth::gguf {
namespace {

constexpr std::uint64_t kMaxPairs = 65536;
constexpr std::size_t kMaxKey = 65535;  // the format's own limit
constexpr std::size_t kKeptText = 4096;
constexpr std::uint64_t kSmallestPair = 13;  // empty key, type, one byte

constexpr std::array<std::string_view, 4> kWantedTexts{"general.architecture", "general.name",
                                                       "general.license", "tokenizer.ggml.model"};
constexpr std::array<std::string_view, 9> kWantedIntegers{
    "general.file_type", "general.alignment", "split.no",     "split.count",  "split.tensors.count",
    ".context_length",   ".embedding_length", ".block_count", ".pooling_type"};

bool is_wanted_text(std::string_view key) {
  return std::find(kWantedTexts.begin(), kWantedTexts.end(), key) != kWantedTexts.end();
}
bool is_wanted_integer(std::string_view key) {
  return std::any_of(kWantedIntegers.begin(), kWantedIntegers.end(),
                     [&](std::string_view suffix) { return key.ends_with(suffix); });
}

// nullopt for a type that is no integer, and for a negative value.
std::optional<std::uint64_t> read_integer(HeaderCursor& cursor, ValueType type,
                                          std::string_view what) {
  std::int64_t value = -1;
  switch (type) {
    case ValueType::kUint8:
    case ValueType::kBool:
      return cursor.number<std::uint8_t>(what);
    case ValueType::kUint16:
      return cursor.number<std::uint16_t>(what);
    case ValueType::kUint32:
      return cursor.number<std::uint32_t>(what);
    case ValueType::kUint64:
      return cursor.number<std::uint64_t>(what);
    case ValueType::kInt8:
      value = cursor.number<std::int8_t>(what);
      break;
    case ValueType::kInt16:
      value = cursor.number<std::int16_t>(what);
      break;
    case ValueType::kInt32:
      value = cursor.number<std::int32_t>(what);
      break;
    case ValueType::kInt64:
      value = cursor.number<std::int64_t>(what);
      break;
    default:
      cursor.skip(width_of(type), what);
  }
  if (value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::optional<ValueType> value_type(HeaderCursor& cursor, std::uint32_t raw,
                                    std::string_view what) {
  if (raw < kValueTypes) return static_cast<ValueType>(raw);
  cursor.fail(fmt::format("{} has the unknown type {}", what, raw));
  return std::nullopt;
}

void skip_array(HeaderCursor& cursor, std::string_view what) {
  const auto raw = cursor.number<std::uint32_t>(what);
  const auto count = cursor.number<std::uint64_t>(what);
  const std::optional<ValueType> type = value_type(cursor, raw, what);
  if (!cursor.ok() || !type) return;
  if (*type == ValueType::kArray) {
    cursor.fail(fmt::format("{} is an array of arrays, which no engine reads", what));
    return;
  }
  const std::uint64_t width = width_of(*type);
  if (!cursor.room_for(count, width == 0 ? sizeof(std::uint64_t) : width,
                       fmt::format("values in {}", what))) {
    return;
  }
  if (width != 0) return cursor.skip(count * width, what);
  for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) cursor.skip_text(what);
}

}  // namespace

void Metadata::read(HeaderCursor& cursor, std::uint64_t count) {
  if (!cursor.room_for(count, kSmallestPair, "metadata keys")) return;
  if (count > kMaxPairs) {
    return cursor.fail(fmt::format("{} metadata keys, more than {}", count, kMaxPairs));
  }
  for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) read_pair(cursor);
}

void Metadata::read_pair(HeaderCursor& cursor) {
  // One byte more than allowed, to see that it was too long.
  std::string key = cursor.text("a metadata key", kMaxKey + 1);
  const auto raw_type = cursor.number<std::uint32_t>("a metadata type");
  if (!cursor.ok()) return;
  if (key.empty()) return cursor.fail("a metadata key is empty");
  if (key.size() > kMaxKey) return cursor.fail("a metadata key is longer than 65535 bytes");
  if (!keys_.insert(key).second) {
    return cursor.fail(fmt::format("metadata key \"{}\" stands there twice", key));
  }
  read_value(cursor, key, raw_type);
}

void Metadata::read_value(HeaderCursor& cursor, const std::string& key, std::uint32_t raw_type) {
  const std::string what = fmt::format("metadata key \"{}\"", key.substr(0, 128));
  const std::optional<ValueType> type = value_type(cursor, raw_type, what);
  if (!type) return;
  if (*type == ValueType::kArray) return skip_array(cursor, what);
  if (*type == ValueType::kString) {
    if (!is_wanted_text(key)) return cursor.skip_text(what);
    texts_[key] = cursor.text(what, kKeptText);
    return;
  }
  const std::optional<std::uint64_t> value = read_integer(cursor, *type, what);
  if (value && is_wanted_integer(key)) integers_[key] = *value;
}

std::optional<std::uint64_t> Metadata::integer(const std::string& key) const {
  const auto found = integers_.find(key);
  if (found == integers_.end()) return std::nullopt;
  return found->second;
}

std::string Metadata::text(const std::string& key) const {
  const auto found = texts_.find(key);
  return found == texts_.end() ? std::string{} : found->second;
}

}  // namespace hearth::gguf

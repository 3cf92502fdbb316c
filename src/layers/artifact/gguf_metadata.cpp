// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hearth::gguf {
namespace {

constexpr std::uint64_t kMaxPairs = 65536;
constexpr std::uint64_t kMaxTexts = std::uint64_t{2} << 20;  // four times the longest known
constexpr std::size_t kMaxKey = 65535;                       // the format's own limit
constexpr std::size_t kKeptText = 4096;
constexpr std::size_t kKeptTemplate = std::size_t{256} << 10;
constexpr std::string_view kTemplate = "tokenizer.chat_template";
constexpr std::uint64_t kSmallestPair = 13;  // empty key, type, one byte

constexpr std::array<std::string_view, 5> kWantedTexts{"general.architecture", "general.name",
                                                       "general.license", "general.type",
                                                       "tokenizer.ggml.model"};
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

}  // namespace

bool plausible_pairs(HeaderCursor& cursor, std::uint64_t count) {
  if (!cursor.room_for(count, kSmallestPair, "metadata keys")) return false;
  if (count > kMaxPairs) {
    cursor.fail(fmt::format("{} metadata keys, more than {}", count, kMaxPairs));
  }
  return cursor.ok();
}

std::optional<PairHead> read_pair_head(HeaderCursor& cursor) {
  PairHead head;
  // One byte more than allowed, to see that it was too long.
  head.key = cursor.text("a metadata key", kMaxKey + 1);
  const auto raw_type = cursor.number<std::uint32_t>("a metadata type");
  if (!cursor.ok()) return std::nullopt;
  if (head.key.empty()) cursor.fail("a metadata key is empty");
  if (head.key.size() > kMaxKey) cursor.fail("a metadata key is longer than 65535 bytes");
  if (!cursor.ok()) return std::nullopt;
  head.what = fmt::format("metadata key \"{}\"", head.key.substr(0, 128));
  const std::optional<ValueType> type = value_type(cursor, raw_type, head.what);
  if (!type) return std::nullopt;
  head.type = *type;
  return head;
}

std::optional<ArrayHead> read_array_head(HeaderCursor& cursor, std::string_view what) {
  const auto raw = cursor.number<std::uint32_t>(what);
  const auto count = cursor.number<std::uint64_t>(what);
  const std::optional<ValueType> type = value_type(cursor, raw, what);
  if (!cursor.ok() || !type) return std::nullopt;
  if (*type == ValueType::kArray) {
    cursor.fail(fmt::format("{} is an array of arrays, which no engine reads", what));
    return std::nullopt;
  }
  const std::uint64_t width = width_of(*type);
  const std::uint64_t least = width == 0 ? sizeof(std::uint64_t) : width;
  if (!cursor.room_for(count, least, fmt::format("values in {}", what))) return std::nullopt;
  if (width == 0 && count > kMaxTexts) {
    cursor.fail(fmt::format("{} has {} texts, more than {}", what, count, kMaxTexts));
    return std::nullopt;
  }
  return ArrayHead{*type, count};
}

void skip_values(HeaderCursor& cursor, const ArrayHead& array, std::string_view what) {
  const std::uint64_t width = width_of(array.type);
  if (width != 0) return cursor.skip(array.count * width, what);
  for (std::uint64_t i = 0; i < array.count && cursor.ok(); ++i) cursor.skip_text(what);
}

void Metadata::read(HeaderCursor& cursor, std::uint64_t count) {
  if (!plausible_pairs(cursor, count)) return;
  for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) read_pair(cursor);
}

void Metadata::read_pair(HeaderCursor& cursor) {
  const std::optional<PairHead> head = read_pair_head(cursor);
  if (!head) return;
  if (!keys_.insert(head->key).second) {
    return cursor.fail(fmt::format("{} stands there twice", head->what));
  }
  read_value(cursor, *head);
}

void Metadata::read_value(HeaderCursor& cursor, const PairHead& head) {
  const auto& [key, type, what] = head;
  if (type == ValueType::kArray) {
    if (const auto array = read_array_head(cursor, what)) skip_values(cursor, *array, what);
    return;
  }
  if (type == ValueType::kString) {
    const bool is_template = key == kTemplate;
    if (!is_template && !is_wanted_text(key)) return cursor.skip_text(what);
    texts_[key] = cursor.text(what, is_template ? kKeptTemplate : kKeptText);
    return;
  }
  const std::optional<std::uint64_t> value = read_integer(cursor, type, what);
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

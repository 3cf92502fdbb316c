// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_need.h"

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

namespace hearth {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kDefaultContext = 8192;
constexpr std::uint64_t kBytesOfNumber = 2;
constexpr std::uint64_t kMostBlocks = 4096;

// The values under one architecture's name.
class Values {
 public:
  explicit Values(const json::object& metadata) : metadata_{metadata} {
    const json::value* name = metadata.if_contains("general.architecture");
    if (name != nullptr && name->is_string()) prefix_ = std::string{name->get_string()} + ".";
  }

  const json::value* find(std::string_view key) const {
    return metadata_.if_contains(prefix_ + std::string{key});
  }
  std::optional<std::uint64_t> number(std::string_view key) const { return number_in(find(key)); }

  // One number for all blocks, or one for each. Nothing when it is absent or of another form.
  std::optional<std::vector<std::uint64_t>> by_block(std::string_view key,
                                                     std::uint64_t blocks) const {
    const json::value* value = find(key);
    if (const auto same = number_in(value)) return std::vector<std::uint64_t>(blocks, *same);
    const json::array* list = value == nullptr ? nullptr : value->if_array();
    if (list == nullptr || list->size() != blocks) return std::nullopt;
    std::vector<std::uint64_t> numbers;
    for (const json::value& each : *list) {
      const auto number = number_in(&each);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }

 private:
  // Small enough to be multiplied with three others.
  static std::optional<std::uint64_t> number_in(const json::value* value) {
    if (value == nullptr || !value->is_number()) return std::nullopt;
    boost::system::error_code error;
    const auto number = value->to_number<std::uint64_t>(error);
    if (error || number > std::uint64_t{1} << 31) return std::nullopt;
    return number;
  }

  const json::object& metadata_;
  std::string prefix_;
};

// Length of one head's keys or values.
std::optional<std::uint64_t> head_length(const Values& values, std::string_view key) {
  if (const auto said = values.number(key)) return said;
  const auto width = values.number("embedding_length");
  const auto heads = values.number("attention.head_count");
  if (!width || !heads || *heads == 0) return std::nullopt;
  return *width / *heads;
}

// Numbers that one token adds to the cache; nothing where the header does not tell.
std::optional<std::uint64_t> numbers_of_token(const Values& values) {
  const auto blocks = values.number("block_count");
  if (!blocks || *blocks > kMostBlocks) return std::nullopt;
  auto heads = values.by_block("attention.head_count_kv", *blocks);
  if (!heads && values.find("attention.head_count_kv") == nullptr) {
    heads = values.by_block("attention.head_count", *blocks);
  }
  const auto key = head_length(values, "attention.key_length");
  const auto value = head_length(values, "attention.value_length");
  if (!heads || !key || !value) return std::nullopt;
  std::uint64_t all = 0;
  for (const std::uint64_t each : *heads) {
    std::uint64_t of_block = 0;
    if (__builtin_mul_overflow(each, *key + *value, &of_block) ||
        __builtin_add_overflow(all, of_block, &all)) {
      return std::nullopt;
    }
  }
  return all;
}

std::string why_not_attention(const Values& values) {
  if (values.find("ssm.state_size") != nullptr || values.find("wkv.head_size") != nullptr ||
      values.find("shortconv.l_cache") != nullptr) {
    return "the model keeps a state beside or in place of a KV cache, which its file gives no "
           "size of";
  }
  if (values.find("attention.kv_lora_rank") != nullptr) {
    return "the model keeps a packed KV cache, which its file gives no size of";
  }
  return {};
}

}  // namespace

GgufNeed need_of(const json::object& metadata) {
  const Values values{metadata};
  GgufNeed need;
  need.kv_context = std::min(values.number("context_length").value_or(0), kDefaultContext);
  need.note = why_not_attention(values);
  if (!need.note.empty()) return need;
  const json::value* causal = values.find("attention.causal");
  if (causal != nullptr && causal->is_bool() && !causal->get_bool()) {
    need.kv = Bytes{};
    need.note = "the model reads its whole input at once and keeps no KV cache";
    return need;
  }
  const auto numbers = numbers_of_token(values);
  std::uint64_t bytes = 0;
  if (!numbers || need.kv_context == 0 ||
      __builtin_mul_overflow(*numbers, need.kv_context * kBytesOfNumber, &bytes)) {
    need.note = "the file does not tell how large its KV cache becomes";
    return need;
  }
  need.kv = Bytes{bytes};
  if (values.number("attention.sliding_window").value_or(0) > 0) {
    need.note = "at most: some layers look back over a window only";
  }
  return need;
}

std::string_view layer_of_tensor(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return name;
  const std::size_t second = name.find('.', dot + 1);
  const std::string_view number = name.substr(dot + 1, second - dot - 1);
  const bool is_numbered = second != std::string_view::npos &&
                           std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return name.substr(0, is_numbered ? second : dot);
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "timeline/response_class.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hearth {
namespace {

using namespace literals;

struct Row {
  std::string_view name;
  std::string_view layer;
};

constexpr std::array<Row, 6> kRows{{{"artifact-cold", "artifact"},
                                    {"storage-cold", "pages"},
                                    {"load-cold", "weights"},
                                    {"compile-cold", "compiled"},
                                    {"prefix-cold", "prefix"},
                                    {"warm", ""}}};
static_assert(kRows.size() == static_cast<std::size_t>(ResponseClass::kWarm) + 1);

const Row& row_of(ResponseClass response_class) {
  return kRows[static_cast<std::size_t>(response_class)];
}

// Fewer do not fill a block of the prefix cache, so nothing could have kept them.
constexpr int kPrefixColdTokens = 64;

}  // namespace

ResponseClass classify(const Facts& facts) {
  if (facts.downloaded > Bytes{}) return ResponseClass::kArtifactCold;
  // Headers, small tables and read-ahead around them are read even where all that matters is
  // resident.
  const Bytes unremarkable = std::max(1_MiB, Bytes{facts.load_set.count() / 100});
  if (facts.bytes_read - facts.read_for_prefix > unremarkable) return ResponseClass::kStorageCold;
  if (facts.weights_loaded || facts.spawned) return ResponseClass::kLoadCold;
  if (facts.compiled) return ResponseClass::kCompileCold;
  if (facts.tokens_seen_before - facts.cached_tokens >= kPrefixColdTokens) {
    return ResponseClass::kPrefixCold;
  }
  return ResponseClass::kWarm;
}

std::string_view name_of(ResponseClass response_class) { return row_of(response_class).name; }
std::string_view cold_layer_of(ResponseClass response_class) {
  return row_of(response_class).layer;
}

std::optional<ResponseClass> response_class_named(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &Row::name);
  if (row == kRows.end()) return std::nullopt;
  return static_cast<ResponseClass>(row - kRows.begin());
}

}  // namespace hearth

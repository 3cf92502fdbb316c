// SPDX-License-Identifier: Apache-2.0
#include "front/config/prefix_group.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace hearth::front {

Result<PrefixGroup> parse_prefix_group(const std::string& text) {
  const std::size_t colon = text.find(':');
  PrefixGroup group;
  group.name = trimmed(std::string_view{text}.substr(0, colon), " \t");
  std::string_view rest = text;
  rest.remove_prefix(colon == std::string::npos ? text.size() : colon + 1);
  bool named = !group.name.empty() && !rest.empty();
  while (named && !rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    group.keys.emplace_back(trimmed(rest.substr(0, comma), " \t"));
    named = !group.keys.back().empty();
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (named) return group;
  return fail(ErrorCode::kInvalid, "must be groups of keys such as \"family: anna, ben\", not \"" +
                                       text.substr(0, 100) + "\"");
}

Result<> check_prefix_group(const std::string& text) {
  auto parsed = parse_prefix_group(text);
  if (!parsed) return Failed{std::move(parsed).error()};
  return {};
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

// Tables whose lines have a name.
namespace hearth::front {

template <class Table>
auto* find_in(const Table& table, std::string_view name) {
  const auto found =
      std::ranges::find_if(table, [name](const auto& option) { return option.name == name; });
  return found == table.end() ? nullptr : &*found;
}

template <class Table>
std::vector<std::string_view> names_in(const Table& table) {
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const auto& option : table) names.push_back(option.name);
  return names;
}

}  // namespace hearth::front

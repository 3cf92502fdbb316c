// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

// One file of a model that was cut into several: "<stem>-00002-of-00003.gguf".
struct ShardName {
  std::string stem;  // with its directory, if the text had one
  int number = 0;    // from 1
  int count = 0;

  // The name of another file of the set; `other` from 1.
  std::string sibling(int other) const;
};

// nullopt for a name that follows another pattern, and for numbers that make no sense (0, 4 of 3).
std::optional<ShardName> parse_shard_name(std::string_view path);

}  // namespace hearth

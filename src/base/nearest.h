// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hearth {

// How many letters to change, add or leave out; case does not count.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The one of `known` (at least one) that takes the fewest edits from `text`; case does not count.
std::string_view nearest(std::string_view text, std::span<const std::string_view> known);

// `; did you mean "level"?`
std::string did_you_mean(std::string_view text, std::span<const std::string_view> known);

// "a, b or c"
std::string one_of(std::span<const std::string_view> words);

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// Numbers out of the small text files of procfs and cgroups.
namespace hearth::front {

// The whole number that `text` begins with, after blanks; what is too large for 64 bits is the
// largest there is. nullopt: there is none ("max", "-1").
std::optional<std::uint64_t> number_at(std::string_view text);

// The number behind `key` where that begins a line and blanks or a colon follow it.
std::optional<std::uint64_t> figure_in(std::string_view text, std::string_view key);

// `text` cut at each `separator`; empty pieces are left out.
std::vector<std::string_view> pieces_of(std::string_view text, char separator);

}  // namespace hearth::front

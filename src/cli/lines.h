// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.h"

// Lines that reports are made of. Pure.
namespace hearth::cli {

// "memory    40.0 MiB of 1.00 GiB": a dim key, then words. On a terminal they are broken at its
// border, and go on below each other. Nothing where there are no words.
std::string key_line(std::string_view key, std::string_view words, const OutputStyle& style);

// A sentence, broken at a terminal's border; further lines are `indent` to the right of the first.
std::string sentence_line(std::string_view words, std::size_t indent, const OutputStyle& style);

// "Reading ahead", over a part of a report.
std::string heading_line(std::string_view words, const OutputStyle& style);

}  // namespace hearth::cli

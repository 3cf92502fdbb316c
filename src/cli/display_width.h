// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::cli {

// The number of terminal cells that UTF-8 text takes: wide East Asian characters and emoji two,
// combining marks none, a byte that is no UTF-8 one. Independent of the process's locale.
std::size_t display_width(std::string_view text);

// Spaces appended up to `width`; longer text is left alone.
std::string pad_right(std::string text, std::size_t width);
std::string pad_left(std::string text, std::size_t width);

// Cut at a character border to at most `width` cells.
std::string clip(std::string_view text, std::size_t width);

// Without control characters (a newline becomes a space): text from elsewhere, such as a file's
// licence, cannot steer the terminal.
std::string one_line(std::string_view text);

// Broken at spaces into lines of at most `width` cells; a longer word stays whole.
std::string wrap(std::string_view text, std::size_t width, std::string_view indent);

}  // namespace hearth::cli

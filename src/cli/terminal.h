// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hearth::cli {

enum class Paint { kPlain, kBold, kDim, kRed, kYellow, kGreen, kBlue, kMagenta, kCyan };

// How one output stream wants to be written to. The default is a pipe: no colours, ASCII only.
struct OutputStyle {
  bool terminal = false;
  bool colour = false;
  bool unicode = false;    // may bars and signs use more than ASCII
  std::size_t width = 80;  // in cells

  // `text` in escape codes where this stream shows colours, else `text`.
  std::string paint(Paint paint, std::string_view text) const;
};

// An environment variable's value, empty when it is not set.
using Environment = std::function<std::string(const char*)>;
std::string process_environment(const char* name);

// Of a file descriptor. Colours need a terminal, TERM other than "dumb" and no NO_COLOR; more than
// ASCII needs a terminal and a UTF-8 locale (LC_ALL, LC_CTYPE, LANG, in this order).
OutputStyle style_of(int fd, const Environment& environment = process_environment);

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace hearth::cli {
namespace {

constexpr std::size_t kNarrowest = 40;

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      return "";
    case Paint::kBold:
      return "\033[1m";
    case Paint::kDim:
      return "\033[2m";
    case Paint::kRed:
      return "\033[31m";
    case Paint::kYellow:
      return "\033[33m";
    case Paint::kGreen:
      return "\033[32m";
    case Paint::kBlue:
      return "\033[34m";
    case Paint::kMagenta:
      return "\033[35m";
    case Paint::kCyan:
      return "\033[36m";
  }
  return "";
}

bool has_utf8_locale(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::size_t width_of(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return OutputStyle{}.width;
  return std::max<std::size_t>(size.ws_col, kNarrowest);
}

}  // namespace

std::string OutputStyle::paint(Paint paint, std::string_view text) const {
  if (!colour || paint == Paint::kPlain || text.empty()) return std::string{text};
  return std::string{code_of(paint)}.append(text).append("\033[0m");
}

std::string process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

OutputStyle style_of(int fd, const Environment& environment) {
  OutputStyle style;
  style.terminal = ::isatty(fd) == 1;
  if (!style.terminal) return style;
  style.colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.unicode = has_utf8_locale(environment);
  style.width = width_of(fd);
  return style;
}

}  // namespace hearth::cli

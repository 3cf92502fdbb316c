// SPDX-License-Identifier: Apache-2.0
#include "base/redact.h"

#include <algorithm>

namespace hearth {
namespace {

bool begins_path(std::string_view text, std::size_t at) {
  if (text[at] != '/') return false;
  return at == 0 ||
         std::string_view{" \t\n\"'`(=:[,<"}.find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

std::string without_directories(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_path(text, at)) {
      out += text[at];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n\"'`):],>", at), text.size());
    std::string_view path = text.substr(at, end - at);
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    out += path.size() == 1 ? path : path.substr(path.rfind('/') + 1);
    at = end - 1;
  }
  return out;
}

}  // namespace hearth

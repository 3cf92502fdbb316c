// SPDX-License-Identifier: Apache-2.0
#include "base/redact.h"

#include <algorithm>
#include <cctype>

namespace hearth {
namespace {

constexpr std::string_view kQuotes = "\"'`";
constexpr std::string_view kBefore = " \t\n\"'`(=:[,<";
constexpr std::string_view kNeverInAName = "/ \t\n\"'`)]>,;:";

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool names_something(std::string_view text, std::size_t slash) {
  return slash + 1 < text.size() && kNeverInAName.find(text[slash + 1]) == std::string_view::npos;
}

// "http://box": the first of two slashes, behind a scheme that is not a file's.
bool begins_url(std::string_view text, std::size_t at) {
  const std::string_view scheme = text.substr(0, at);
  return scheme.size() > 1 && scheme.ends_with(':') &&
         is_letter_or_digit(scheme[scheme.size() - 2]) && !scheme.ends_with("file:") &&
         text.substr(at).starts_with("//") && names_something(text, at + 1);
}

bool begins_path(std::string_view text, std::size_t at) {
  if (text[at] != '/' || begins_url(text, at)) return false;
  if (at > 0 && kBefore.find(text[at - 1]) == std::string_view::npos) return false;
  const std::size_t name = text.find_first_not_of('/', at);
  return name != std::string_view::npos && names_something(text, name - 1);
}

// The quote that closes the one before `at`; an apostrophe within a word does not.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  if (at == 0 || kQuotes.find(text[at - 1]) == std::string_view::npos) return text.npos;
  const std::string_view line = text.substr(0, text.find('\n', at));
  std::size_t end = line.find(text[at - 1], at);
  while (end != text.npos && end + 1 < line.size() && is_letter_or_digit(line[end + 1])) {
    end = line.find(text[at - 1], end + 1);
  }
  return end;
}

// Names may hold blanks and apostrophes, so that a path goes on for as long as it could.
std::size_t end_of_path(std::string_view text, std::size_t at) {
  const std::size_t quote = closing_quote(text, at);
  if (quote != text.npos) return quote;
  const std::size_t sentence = std::min(text.find(": ", at), text.find_first_of("\"`\n", at));
  return std::min(sentence, text.size());
}

// What stands behind the last slash that names something, without a slash at the name's end.
std::string last_name(std::string_view path) {
  std::size_t slash = path.rfind('/');
  while (slash > 0 && !names_something(path, slash)) slash = path.rfind('/', slash - 1);
  std::string name{path.substr(slash + 1)};
  const std::size_t end = name.find('/');
  if (end != std::string::npos && name[end - 1] != ' ') name.erase(end, 1);
  return name;
}

}  // namespace

std::string without_directories(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_path(text, at)) {
      out += text[at];
      continue;
    }
    const std::size_t end = end_of_path(text, at);
    out += last_name(text.substr(at, end - at));
    at = end - 1;
  }
  return out;
}

}  // namespace hearth

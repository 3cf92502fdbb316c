// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/modelfile_lines.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kThree = "\"\"\"";
constexpr std::string_view kOne = "\"";

std::string with_plain_line_ends(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!pair) out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

}  // namespace

ModelfileLines::ModelfileLines(std::string_view text) : text_{with_plain_line_ends(text)} {}

bool ModelfileLines::skip_blank() {
  for (;;) {
    const std::size_t start = text_.find_first_not_of(kBlanks, at_);
    if (start == std::string::npos) return false;
    at_ = start;
    began_ = line_;
    if (text_[at_] != '\n' && text_[at_] != '#') return true;
    (void)take_line();
  }
}

std::string_view ModelfileLines::take_line() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  const std::string_view line = std::string_view{text_}.substr(at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  ++line_;
  return line;
}

std::string_view ModelfileLines::take_word() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
  const std::size_t end = std::min(text_.find_first_of(" \t\n", at_), text_.size());
  const std::string_view word = std::string_view{text_}.substr(at_, end - at_);
  at_ = end;
  return word;
}

Result<std::string> ModelfileLines::take_value() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
  const std::string_view rest = std::string_view{text_}.substr(at_);
  if (rest.starts_with(kThree)) return take_quoted(kThree);
  if (rest.starts_with(kOne)) return take_quoted(kOne);
  return std::string{trimmed(take_line(), kBlanks)};
}

// Marks within a line do not end a value, so that texts may hold them.
Result<std::string> ModelfileLines::take_quoted(std::string_view quotes) {
  const std::size_t start = at_ + quotes.size();
  at_ = start;
  while (at_ < text_.size()) {
    (void)take_line();
    std::string_view value = std::string_view{text_}.substr(start, at_ - start);
    value = value.substr(0, value.find_last_not_of(" \t\n") + 1);
    if (value.ends_with(quotes)) return std::string{value.substr(0, value.size() - quotes.size())};
  }
  return fail(ErrorCode::kInvalid, "no line ends with the quotation marks that it begins with");
}

std::optional<std::string> ModelfileLines::quoted(std::string_view value) {
  constexpr std::array<std::string_view, 3> kForms{"", kOne, kThree};
  const std::string wanted = with_plain_line_ends(value);
  for (const std::string_view quotes : kForms) {
    std::string written = std::string{quotes} + wanted + std::string{quotes};
    ModelfileLines lines{written + "\n#"};
    const Result<std::string> read = lines.take_value();
    const bool all = lines.text_.substr(lines.at_) == "#";
    if (read && all && *read == wanted) return written;
  }
  return std::nullopt;
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "http/line_reader.h"

namespace hearth::http {

void LineReader::feed(std::string_view bytes) {
  while (true) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    if (pending_.empty()) {
      emit(bytes.substr(0, end));
    } else {
      pending_ += bytes.substr(0, end);
      emit(std::exchange(pending_, std::string{}));
    }
    bytes.remove_prefix(end + 1);
  }
  pending_ += bytes;
}

void LineReader::finish() {
  if (!pending_.empty()) emit(std::exchange(pending_, std::string{}));
}

void LineReader::emit(std::string_view line) const {
  if (line.ends_with('\r')) line.remove_suffix(1);
  on_line_(line);
}

std::optional<std::string_view> event_data(std::string_view line) {
  constexpr std::string_view kField = "data:";
  if (!line.starts_with(kField)) return std::nullopt;
  line.remove_prefix(kField.size());
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

}  // namespace hearth::http

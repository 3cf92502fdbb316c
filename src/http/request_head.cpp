// SPDX-License-Identifier: Apache-2.0
#include "http/request_head.h"

#include <algorithm>

namespace hearth::http {
namespace {

// The next line without its end, taken off `rest`; nullopt while its end has not come.
std::optional<std::string_view> take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

std::optional<HttpRequest> request_of(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  if (!line.substr(last + 1).starts_with("HTTP/")) return std::nullopt;
  std::optional<Target> target = parse_target(line.substr(first + 1, last - first - 1));
  if (!target) return std::nullopt;
  HttpRequest request;
  request.method = std::string{line.substr(0, first)};
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  return request;
}

}  // namespace

std::optional<Target> parse_target(std::string_view raw) {
  raw = raw.substr(0, raw.find('#'));
  const std::size_t scheme = raw.find("://");
  if (!raw.starts_with('/') && scheme != std::string_view::npos) {
    raw.remove_prefix(scheme + 3);
    raw.remove_prefix(std::min(raw.find_first_of("/?"), raw.size()));
    if (!raw.starts_with('/')) {
      return Target{"/", std::string{raw.substr(std::min<std::size_t>(1, raw.size()))}};
    }
  }
  if (raw == "*") raw = "/";
  const std::size_t mark = std::min(raw.find('?'), raw.size());
  std::optional<std::string> path = normal_path(raw.substr(0, mark));
  if (!path) return std::nullopt;
  return Target{*std::move(path), std::string{raw.substr(std::min(mark + 1, raw.size()))}};
}

std::optional<HttpRequest> peek_head(std::string_view bytes) {
  const std::optional<std::string_view> first = take_line(bytes);
  std::optional<HttpRequest> request = first ? request_of(*first) : std::nullopt;
  if (!request) return std::nullopt;
  while (const auto line = take_line(bytes)) {
    if (line->empty()) break;
    const std::size_t colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    request->headers.push_back({std::string{trimmed(line->substr(0, colon))},
                                std::string{trimmed(line->substr(colon + 1))}});
  }
  return request;
}

std::optional<Refusal> check_lines(std::string_view header) {
  for (std::size_t end = header.find('\n'); end != std::string_view::npos;
       end = header.find('\n', end + 1)) {
    if (end > 0 && header[end - 1] != '\r') {
      return Refusal{400, "A header line has to end with CR LF."};
    }
    const std::string_view next = header.substr(end + 1);
    if (next.starts_with(' ') || next.starts_with('\t')) {
      return Refusal{400, "A header line must not begin with a space."};
    }
  }
  return std::nullopt;
}

}  // namespace hearth::http

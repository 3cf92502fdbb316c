// SPDX-License-Identifier: Apache-2.0
#include "fetcher/response_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace hearth::fetcher {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;
constexpr std::size_t kMostFields = 200;

constexpr std::pair<int, std::string_view> kWords[] = {
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {416, "Range Not Satisfiable"},
    {425, "Too Early"},
    {429, "Too Many Requests"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "HTTP/1.1 200 OK"
std::optional<int> status_of(std::string_view line) {
  if (!line.starts_with("HTTP/")) return std::nullopt;
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  return static_cast<int>(number(line.substr(blank + 1, 3)).value_or(0));
}

bool is_token(std::string_view text) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

std::string ResponseHead::field(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &wire::HttpField::name);
  return found == fields.end() ? "" : found->value;
}

std::optional<std::uint64_t> ResponseHead::content_length() const {
  return number(field("content-length"));
}

std::string status_words(int status) {
  const auto* found = std::ranges::find(kWords, status, &std::pair<int, std::string_view>::first);
  if (found == std::end(kWords)) return fmt::format("{}", status);
  return fmt::format("{} {}", status, found->second);
}

Result<> HeadReader::add(std::string_view line) {
  if (const std::optional<int> status = status_of(line)) {
    *this = HeadReader{};
    head_.status = *status;
  }
  size_ += line.size();
  if (size_ > kMostBytes || head_.fields.size() >= kMostFields) {
    return fail(ErrorCode::kUnavailable, "sent headers without end");
  }
  const std::size_t colon = line.find(':');
  if (line.starts_with("HTTP/") || colon == std::string_view::npos) return {};
  std::string name = lower_case(trimmed(line.substr(0, colon), " \t"));
  head_.fields.push_back(
      {std::move(name), std::string{trimmed(line.substr(colon + 1), " \t\r\n")}});
  return {};
}

std::optional<ContentRange> ContentRange::parse(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  ContentRange out;
  out.whole = number(text.substr(slash + 1));
  if (!out.whole && text.substr(slash + 1) != "*") return std::nullopt;
  const std::string_view range = text.substr(0, slash);
  if (range == "*") return out;
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  out.first = number(range.substr(0, dash));
  out.last = number(range.substr(dash + 1));
  if (!out.first || !out.last || *out.first > *out.last) return std::nullopt;
  if (out.whole && *out.last >= *out.whole) return std::nullopt;
  return out;
}

bool is_strong_etag(std::string_view text) {
  return text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
}

Result<> check_header(const wire::HttpField& header) {
  if (!is_token(header.name)) return fail(ErrorCode::kInvalid, "a header's name is none");
  const bool fit = std::ranges::none_of(
      header.value, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
  if (!fit) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the header {} holds a control character", header.name));
  }
  return {};
}

}  // namespace hearth::fetcher

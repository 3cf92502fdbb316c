// SPDX-License-Identifier: Apache-2.0
#include "http/response_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/clock.h"

namespace hearth::http {
namespace {

struct Reason {
  int status;
  std::string_view text;
};

constexpr Reason kReasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

std::string_view reason_for(int status) {
  const auto* found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                   [status](const Reason& r) { return r.status == status; });
  return found == std::end(kReasons) ? std::string_view{"Unknown"} : found->text;
}

bool is_framing(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kOurs{"content-length", "transfer-encoding",
                                                         "connection", "keep-alive", "date"};
  std::string lower{name};
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
  });
  return std::find(kOurs.begin(), kOurs.end(), lower) != kOurs.end();
}

void append_clean(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += (byte < ' ' && c != '\t') || byte == 0x7f ? ' ' : c;
  }
}

// IMF-fixdate. The names are spelled out because strftime's follow the locale.
std::string date_line() {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = Clock::real().wall_us() / 1'000'000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n", kDays[utc.tm_wday],
                     utc.tm_mday, kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
                     utc.tm_sec);
}

std::string framing_line(const ResponseHead& head) {
  switch (head.framing) {
    case BodyFraming::kLength:
      return fmt::format("Content-Length: {}\r\n", head.length);
    case BodyFraming::kChunked:
      return "Transfer-Encoding: chunked\r\n";
    case BodyFraming::kNone:
    case BodyFraming::kUntilClose:
      break;
  }
  return {};
}

}  // namespace

std::string to_bytes(const ResponseHead& head) {
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\n", head.status, reason_for(head.status));
  bytes += date_line();
  for (const Header& header : head.headers) {
    if (is_framing(header.name)) continue;
    append_clean(bytes, header.name);
    bytes += ": ";
    append_clean(bytes, header.value);
    bytes += "\r\n";
  }
  bytes += framing_line(head);
  if (head.after == After::kClose) bytes += "Connection: close\r\n";
  bytes += "\r\n";
  return bytes;
}

bool is_bodyless(int status) { return status / 100 == 1 || status == 204 || status == 304; }

HttpResponse error_response(int status, std::string_view message) {
  std::string escaped;
  for (const char c : message) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  const bool ours = status == 500 || status == 503;
  const std::string_view type = ours ? "server_error" : "invalid_request_error";
  return HttpResponse::json(
      status, fmt::format(R"({{"error":{{"message":"{}","type":"{}"}}}})", escaped, type));
}

}  // namespace hearth::http

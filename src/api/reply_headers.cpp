// SPDX-License-Identifier: Apache-2.0
#include "api/reply_headers.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <string_view>

#include "base/text.h"
#include "timeline/response_class.h"

namespace hearth::api {
namespace {

constexpr int kMaxWaitSeconds = 24 * 3600;

constexpr std::string_view kAround = " \t\"";

std::optional<Duration> seconds_of(std::string_view text) {
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (seconds < 0 || seconds > kMaxWaitSeconds) return std::nullopt;
  return std::chrono::seconds{seconds};
}

}  // namespace

void add_report_headers(http::Headers& headers, const std::string& request_id,
                        const RequestReport& report) {
  headers.push_back({"X-Request-Id", request_id});
  if (report.response_class) {
    headers.push_back({"X-Hearth-Class", std::string{name_of(*report.response_class)}});
    const std::string_view layer = cold_layer_of(*report.response_class);
    if (!layer.empty()) headers.push_back({"X-Hearth-Cold-Layer", std::string{layer}});
  }
  if (report.dropped_messages > 0 || report.dropped_tokens > 0) {
    headers.push_back(
        {"X-Hearth-Truncated",
         fmt::format("messages={}, tokens={}", report.dropped_messages, report.dropped_tokens)});
  }
  if (report.trace) headers.push_back({"traceparent", traceparent_of(report.trace->context)});
  std::string timing = server_timing(report);
  if (!timing.empty()) headers.push_back({"Server-Timing", std::move(timing)});
}

std::optional<Duration> preferred_wait(const http::HttpRequest& request) {
  const auto header = request.header("Prefer");
  if (!header) return std::nullopt;
  std::string_view rest = *header;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(",;"), rest.size());
    const std::string_view preference = trimmed(rest.substr(0, end), kAround);
    const std::size_t equals = preference.find('=');
    if (equals != std::string_view::npos &&
        trimmed(preference.substr(0, equals), kAround) == "wait") {
      return seconds_of(trimmed(preference.substr(equals + 1), kAround));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#include "traces/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>

#include "base/json.h"

namespace hearth::traces {
namespace {

using Fate = Judgement::Fate;

constexpr std::chrono::seconds kLongestAsked{300};
constexpr std::chrono::milliseconds kFirst{1000};
constexpr int kMostDoublings = 6;
constexpr std::size_t kLongestReason = 200;

// Of the header's two forms, seconds alone: a date counts as not said.
std::optional<Duration> seconds_in(const std::optional<std::string>& header) {
  if (!header) return std::nullopt;
  int seconds = 0;
  const char* const end = header->data() + header->size();
  const auto [stop, error] = std::from_chars(header->data(), end, seconds);
  if (error != std::errc{} || stop != end || seconds < 0) return std::nullopt;
  return std::min(std::chrono::seconds{seconds}, kLongestAsked);
}

// A collector's words, for the log.
std::string one_line(std::string text) {
  text = repair_utf8(text);
  std::ranges::replace_if(text, [](char c) { return c >= 0 && c < ' '; }, ' ');
  if (text.size() <= kLongestReason) return text;
  text.resize(complete_utf8_prefix(std::string_view{text}.substr(0, kLongestReason)));
  return text;
}

std::uint64_t count_in(const boost::json::value& value) {
  if (const auto* text = value.if_string()) {
    std::uint64_t count = 0;
    std::from_chars(text->data(), text->data() + text->size(), count);
    return count;
  }
  const auto count = boost::json::try_value_to<std::uint64_t>(value);
  return count.has_value() ? *count : 0;
}

// An answer that says nothing of this kind, or is no JSON, means that all was taken.
void read_partial_success(const std::string& body, Judgement& judgement) {
  const auto parsed = parse_json(body);
  const auto* answer = parsed ? parsed->if_object() : nullptr;
  const auto* partial = answer == nullptr ? nullptr : answer->if_contains("partialSuccess");
  if (partial == nullptr || !partial->is_object()) return;
  const auto& says = partial->get_object();
  if (const auto* count = says.if_contains("rejectedSpans")) {
    judgement.rejected_spans = count_in(*count);
  }
  const auto* message = says.if_contains("errorMessage");
  if (message != nullptr && message->is_string()) {
    judgement.reason = one_line(std::string{message->get_string()});
  }
  if (judgement.rejected_spans > 0 && judgement.reason.empty()) {
    judgement.reason = "spans were rejected without a reason";
  }
}

}  // namespace

Judgement judge(const Result<PostAnswer>& answer) {
  Judgement judgement;
  if (!answer) {
    const bool may_change = answer.error().code() == ErrorCode::kUnavailable;
    judgement.fate = may_change ? Fate::kLater : Fate::kRefused;
    judgement.reason = one_line(answer.error().message());
    return judgement;
  }
  const int status = answer->status;
  if (status >= 200 && status < 300) {
    read_partial_success(answer->body, judgement);
    return judgement;
  }
  const bool temporary = status == 429 || (status >= 502 && status <= 504);
  judgement.fate = temporary ? Fate::kLater : Fate::kRefused;
  if (temporary) judgement.wait = seconds_in(answer->retry_after);
  judgement.reason = one_line(fmt::format("HTTP {} {}", status, answer->body));
  return judgement;
}

Duration backoff(int failures, Random& random) {
  const Duration whole = kFirst * (1 << std::clamp(failures - 1, 0, kMostDoublings));
  const auto tenth = static_cast<std::uint64_t>(whole.count() / 10);
  return whole - Duration{static_cast<std::int64_t>(random.next() % (2 * tenth))};
}

}  // namespace hearth::traces

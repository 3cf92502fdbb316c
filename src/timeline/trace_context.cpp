// SPDX-License-Identifier: Apache-2.0
#include "timeline/trace_context.h"

#include <algorithm>

#include "base/text.h"

namespace hearth {
namespace {

constexpr std::uint8_t kSampled = 1;
constexpr std::uint8_t kRandom = 2;
constexpr std::size_t kLength = 55;  // "00-", 32 digits, "-", 16 digits, "-", 2 digits
constexpr std::size_t kMostMembers = 32;
constexpr std::size_t kLongestKey = 256;
constexpr std::size_t kLongestValue = 256;
constexpr std::string_view kBlank = " \t";

// Capital letters are malformed here.
std::optional<unsigned char> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned char>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned char>(c - 'a' + 10);
  return std::nullopt;
}

template <std::size_t N>
std::optional<std::array<unsigned char, N>> bytes_of(std::string_view hex) {
  std::array<unsigned char, N> bytes{};
  for (std::size_t i = 0; i < N; ++i) {
    const auto high = digit_of(hex[2 * i]);
    const auto low = digit_of(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    bytes[i] = static_cast<unsigned char>(*high << 4 | *low);
  }
  return bytes;
}

bool is_key(std::string_view key) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyz0123456789_-*/@";
  return !key.empty() && key.size() <= kLongestKey && kFirst.find(key[0]) != kFirst.npos &&
         key.find_first_not_of(kAll) == key.npos;
}

bool is_value(std::string_view value) {
  return !value.empty() && value.size() <= kLongestValue && std::ranges::all_of(value, [](char c) {
    return c >= ' ' && c <= '~' && c != ',' && c != '=';
  });
}

bool is_member(std::string_view member) {
  const std::size_t equals = member.find('=');
  return equals != member.npos && is_key(member.substr(0, equals)) &&
         is_value(member.substr(equals + 1));
}

// Members of one list after the other. False once something is malformed.
class StateReader {
 public:
  bool add(std::string_view list) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      if (!add_member(trimmed(list.substr(0, end), kBlank))) return false;
      list.remove_prefix(std::min(end + 1, list.size()));
    }
    return true;
  }

  std::string take() { return std::move(state_); }

 private:
  bool add_member(std::string_view member) {
    if (member.empty()) return true;
    if (!is_member(member) || ++members_ > kMostMembers) return false;
    full_ = full_ || state_.size() + member.size() + 1 > kLongestState;
    if (full_) return true;
    if (!state_.empty()) state_ += ',';
    state_ += member;
    return true;
  }

  std::string state_;
  std::size_t members_ = 0;
  bool full_ = false;
};

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  text = trimmed(text, kBlank);
  if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  const auto version = bytes_of<1>(text.substr(0, 2));
  if (!version || version->front() == 0xff) return {};
  // A later version may have more, after another dash.
  const bool longer = text.size() > kLength;
  if (longer && (version->front() == 0 || text[kLength] != '-')) return {};
  const auto trace = bytes_of<16>(text.substr(3, 32));
  const auto span = bytes_of<8>(text.substr(36, 16));
  const auto flags = bytes_of<1>(text.substr(53, 2));
  if (!trace || !span || !flags) return {};
  TraceContext context;
  context.trace.bytes = *trace;
  context.span.bytes = *span;
  if (!context.trace.is_set() || !context.span.is_set()) return {};
  context.sampled = (flags->front() & kSampled) != 0;
  context.random = (flags->front() & kRandom) != 0;
  return context;
}

std::string tracestate_of(std::span<const std::string_view> values) {
  StateReader reader;
  for (const std::string_view value : values) {
    if (!reader.add(value)) return "";
  }
  return reader.take();
}

std::uint8_t flags_of(const TraceContext& context) {
  const int flags = (context.sampled ? kSampled : 0) | (context.random ? kRandom : 0);
  return static_cast<std::uint8_t>(flags);
}

std::string traceparent_of(const TraceContext& context) {
  const std::array<unsigned char, 1> flags{flags_of(context)};
  return "00-" + hex_of(context.trace) + "-" + hex_of(context.span) + "-" + hex_of(flags);
}

}  // namespace hearth

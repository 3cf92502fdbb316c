// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/sha256.h"

// Which trace a request belongs to, in the words of W3C's Trace Context.
namespace hearth {

// All zeroes is no id.
template <std::size_t N>
struct OpaqueId {
  std::array<unsigned char, N> bytes{};

  bool is_set() const { return *this != OpaqueId{}; }
  friend bool operator==(const OpaqueId&, const OpaqueId&) = default;
};
using TraceId = OpaqueId<16>;
using SpanId = OpaqueId<8>;

template <std::size_t N>
std::string hex_of(const OpaqueId<N>& id) {
  return hex_of(std::span<const unsigned char>{id.bytes});
}

// One span of one trace, as it is told to others.
struct TraceContext {
  TraceId trace{};
  SpanId span{};
  bool sampled = false;
  bool random = false;  // the trace's id was made of random bytes
  std::string state{};  // `tracestate`, for whoever reads the trace; may be empty
};

// Of the header `traceparent`, version 00 or a later one as far as it is known. Nothing where it is
// malformed: the trace is then to begin anew.
std::optional<TraceContext> parse_traceparent(std::string_view text);

// Of all the values of the header `tracestate`, in their order. Empty where one is malformed. What
// goes beyond kLongestState is cut, by whole members.
inline constexpr std::size_t kLongestState = 512;
std::string tracestate_of(std::span<const std::string_view> values);

// "00-4bf9...-00f0...-01"
std::string traceparent_of(const TraceContext& context);
std::uint8_t flags_of(const TraceContext& context);

// A request's place in a trace.
struct RequestTrace {
  TraceContext context{};          // sampled: its spans are sent to a collector
  SpanId parent{};                 // the asker's span; not set: the trace begins here
  std::int64_t first_byte_ns = 0;  // since 1970
};

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "timeline/trace_context.h"

namespace hearth::traces {

// Gives requests their place in a trace, and decides which of them are sent. Whoever asks decides
// first: a request that comes with a trace is sent if that trace is sampled. Not thread-safe.
class Tracer {
 public:
  explicit Tracer(std::uint64_t seed) : random_{seed} {}

  // `percent` of requests that come without a trace. Off: nothing is sampled.
  enum class Sending { kOff, kOn };
  void set(Sending sending, std::int64_t percent);

  // Nothing where the request came without a trace and none is begun. Where it came with one, the
  // request has a place in it even if nothing is sent: its id is then known on both sides.
  std::optional<RequestTrace> begin(const std::optional<TraceContext>& parent);

 private:
  bool chosen(const TraceId& trace) const;

  Random random_;
  Sending sending_ = Sending::kOff;
  std::int64_t percent_ = 100;
};

}  // namespace hearth::traces

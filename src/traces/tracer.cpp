// SPDX-License-Identifier: Apache-2.0
#include "traces/tracer.h"

#include "traces/random_id.h"

namespace hearth::traces {

void Tracer::set(Sending sending, std::int64_t percent) {
  sending_ = sending;
  percent_ = percent;
}

// By the last 56 bits of the id, as the specification has it: all who sample by them, with whatever
// share, choose of the same traces.
bool Tracer::chosen(const TraceId& trace) const {
  std::uint64_t randomness = 0;
  for (std::size_t i = 9; i < trace.bytes.size(); ++i) {
    randomness = randomness << 8 | trace.bytes[i];
  }
  const std::uint64_t rejected =
      ((std::uint64_t{1} << 56) / 100) * static_cast<std::uint64_t>(100 - percent_);
  return percent_ > 0 && randomness >= rejected;
}

std::optional<RequestTrace> Tracer::begin(const std::optional<TraceContext>& parent) {
  RequestTrace trace;
  if (parent) {
    trace.context = *parent;
    trace.parent = parent->span;
    trace.context.sampled = parent->sampled && sending_ == Sending::kOn;
  } else {
    if (sending_ == Sending::kOff) return std::nullopt;
    trace.context.trace = random_id<TraceId>(random_);
    trace.context.random = true;
    trace.context.sampled = chosen(trace.context.trace);
    if (!trace.context.sampled) return std::nullopt;
  }
  trace.context.span = random_id<SpanId>(random_);
  return trace;
}

}  // namespace hearth::traces

// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/figures.h"

#include <cmath>

#include "base/time_text.h"

namespace hearth::api::ollama {
namespace {

std::int64_t nanoseconds(double ms) { return std::llround(ms * 1e6); }

// From the end of the prompt to the last token, so that its count divided by it is a rate also for
// a reply of one token.
std::int64_t generation_time(const front::Finished& end) {
  const Duration staged = end.report.timings.time_in({StageKind::kFirstDecode, StageKind::kDecode});
  return staged > Duration::zero() ? staged.count() : nanoseconds(end.generated_ms);
}

}  // namespace

std::string rfc3339(std::int64_t wall_us) {
  return hearth::rfc3339(wall_us, Fraction::kNanoseconds);
}

void add_durations(JsonWriter& out, const RequestReport& report) {
  const Timings& timings = report.timings;
  out.integer("total_duration", timings.total.count());
  out.integer("load_duration", timings
                                   .time_in({StageKind::kSpawn, StageKind::kRead, StageKind::kLoad,
                                             StageKind::kCompile, StageKind::kContext})
                                   .count());
}

void add_figures(JsonWriter& out, const front::Finished& end) {
  add_durations(out, end.report);
  out.integer("prompt_eval_count", end.prompt_tokens);
  out.integer("prompt_eval_cached_count", end.cached_tokens);
  out.integer("prompt_eval_duration", nanoseconds(end.prompt_ms));
  out.integer("eval_count", end.generated).integer("eval_duration", generation_time(end));
  out.raw("hearth", to_json(end.report));
}

}  // namespace hearth::api::ollama

// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/figures.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

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
  using namespace std::chrono;
  const sys_time<microseconds> time{microseconds{wall_us}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}000Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
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

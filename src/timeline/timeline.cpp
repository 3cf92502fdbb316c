// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.h"

#include <algorithm>
#include <tuple>

namespace hearth {
namespace {

// The length of the union. `stages` must be sorted by start.
template <class Wanted>
Duration union_of(const std::vector<TimedStage>& stages, Wanted wanted) {
  Duration covered{};
  Duration reached{};
  for (const TimedStage& stage : stages) {
    const Duration end = stage.start + stage.length;
    if (!wanted(stage.kind) || end <= reached) continue;
    covered += end - std::max(stage.start, reached);
    reached = end;
  }
  return covered;
}

TimedStage clip(const Stage& stage, TimePoint first, TimePoint last) {
  const TimePoint start = std::clamp(stage.start, first, last);
  const TimePoint end = std::clamp(stage.end, start, last);
  return {.kind = stage.kind,
          .start = start - first,
          .length = end - start,
          .bytes = stage.bytes,
          .shared = stage.start < first};
}

}  // namespace

Duration Timings::time_in(const std::vector<StageKind>& kinds) const {
  return union_of(stages,
                  [&](StageKind kind) { return std::ranges::find(kinds, kind) != kinds.end(); });
}

bool Timings::has(StageKind kind) const {
  return std::ranges::any_of(stages, [&](const TimedStage& stage) { return stage.kind == kind; });
}

void Timeline::add(const std::vector<Stage>& stages) {
  stages_.insert(stages_.end(), stages.begin(), stages.end());
}

bool Timeline::has(StageKind kind) const {
  return std::any_of(stages_.begin(), stages_.end(),
                     [kind](const Stage& stage) { return stage.kind == kind; });
}

void Timeline::finish(TimePoint last_byte) {
  last_byte_ = last_byte;
  finished_ = true;
}

void Timeline::deliver(TimePoint last_byte) {
  const auto last = std::ranges::max_element(stages_, {}, &Stage::end);
  if (last == stages_.end() || last->end > last_byte) return;
  const bool makes_output = last->kind == StageKind::kPrefill ||
                            last->kind == StageKind::kFirstDecode ||
                            last->kind == StageKind::kDecode;
  if (makes_output) last->end = last_byte;
}

TimePoint Timeline::end() const {
  if (finished_) return std::max(last_byte_, first_byte_);
  TimePoint latest = first_byte_;
  for (const Stage& stage : stages_) latest = std::max(latest, stage.end);
  return latest;
}

Timings Timeline::timings() const {
  const TimePoint last = end();
  Timings timings;
  timings.total = last - first_byte_;
  Duration sum{};
  for (const Stage& stage : stages_) {
    timings.stages.push_back(clip(stage, first_byte_, last));
    sum += timings.stages.back().length;
    timings.shared = timings.shared || timings.stages.back().shared;
  }
  std::ranges::stable_sort(timings.stages, {}, [](const TimedStage& stage) {
    return std::tuple{stage.start, stage.kind};
  });
  timings.covered = union_of(timings.stages, [](StageKind) { return true; });
  timings.overlap = sum - timings.covered;
  timings.other = timings.total - timings.covered;
  timings.queued = timings.time_in({StageKind::kQueue});
  return timings;
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "lab/report/stage_bars.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/stage.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

constexpr double kLeastUntold = 0.5;

const json::array* stages_in(const json::object& object) {
  const json::value* stages = object.if_contains("stages");
  if (stages != nullptr && stages->is_array()) return &stages->as_array();
  const json::value* below = object.if_contains("hearth");
  return below != nullptr && below->is_object() ? stages_in(below->as_object()) : nullptr;
}

std::optional<double> number(const json::object& object, const char* name) {
  const json::value* found = object.if_contains(name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

// Empty where any of them lacks its beginning.
std::vector<StageBar> told_bars(const std::string& report, double start_ms) {
  const auto parsed = parse_json(report);
  if (report.empty() || !parsed || !parsed->is_object()) return {};
  const json::array* stages = stages_in(parsed->as_object());
  if (stages == nullptr) return {};
  std::vector<StageBar> bars;
  for (const json::value& stage : *stages) {
    if (!stage.is_object()) return {};
    const json::value* name = stage.as_object().if_contains("name");
    const auto from = number(stage.as_object(), "start_ms");
    const auto length = number(stage.as_object(), "ms");
    if (name == nullptr || !name->is_string() || !from || !length) return {};
    bars.push_back({std::string{name->as_string()}, start_ms + *from, *length});
  }
  return bars;
}

std::size_t place_of(const std::string& name) {
  const auto kind = stage_named(name);
  return kind ? static_cast<std::size_t>(*kind) : 100;
}

// What is waited for and belongs to no stage that was told comes before those that were.
std::vector<StageBar> lined_up(const Timing& timing, double start_ms) {
  std::vector<StageBar> bars;
  double untold = timing.first_token_ms.value_or(0);
  for (const auto& [name, ms] : timing.stages_ms) {
    if (name != "start") bars.push_back({name, 0, ms});
    if (name != "start" && name != "decode") untold -= ms;
  }
  std::ranges::stable_sort(bars, {}, [](const StageBar& bar) { return place_of(bar.name); });
  if (untold >= kLeastUntold) bars.insert(bars.begin(), {kUntoldStage, 0, untold});
  double at = start_ms;
  for (StageBar& bar : bars) {
    bar.from_ms = at;
    at += bar.length_ms;
  }
  return bars;
}

}  // namespace

StageBars stage_bars(const Trial& row) {
  const double start_ms = row.timing.start_ms.value_or(0);
  StageBars found{told_bars(row.report, start_ms), true};
  if (found.bars.empty()) found = {lined_up(row.timing, start_ms), false};
  if (start_ms > 0) found.bars.push_back({"start", 0, start_ms});
  std::erase_if(found.bars, [](const StageBar& bar) { return bar.length_ms <= 0; });
  std::ranges::stable_sort(found.bars, {}, &StageBar::from_ms);
  return found;
}

std::vector<int> lanes_of(const std::vector<StageBar>& bars) {
  std::vector<double> busy_until;
  std::vector<int> lanes;
  for (const StageBar& bar : bars) {
    const auto free = std::ranges::find_if(
        busy_until, [&bar](double until) { return until <= bar.from_ms + 1e-6; });
    lanes.push_back(static_cast<int>(free - busy_until.begin()));
    if (free == busy_until.end()) {
      busy_until.push_back(bar.from_ms + bar.length_ms);
    } else {
      *free = bar.from_ms + bar.length_ms;
    }
  }
  return lanes;
}

}  // namespace hearth::lab

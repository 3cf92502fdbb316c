// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/idle.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <utility>

#include "lab/plain_json.h"
#include "lab/studies/habits.h"

namespace hearth::lab {
namespace {

using Rows = std::vector<const Trial*>;

bool is_real(const Trial& trial) {
  const auto found = trial.extra.find("real");
  return found != trial.extra.end() && found->second != 0;
}

template <class Get>
std::optional<double> middle(const Rows& rows, Get get) {
  std::vector<double> values;
  for (const Trial* row : rows) {
    if (const std::optional<double> value = get(*row)) values.push_back(*value);
  }
  return quantile(std::move(values), 0.5);
}

std::optional<double> count_of(const std::optional<Bytes>& bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(bytes->count());
}

std::optional<double> stage(const Rows& rows, const std::string& name) {
  return middle(rows, [&name](const Trial& row) -> std::optional<double> {
    const auto found = row.timing.stages_ms.find(name);
    if (found != row.timing.stages_ms.end()) return found->second;
    // A server that tells its stages had none of this one.
    return row.timing.stages_ms.empty() ? std::nullopt : std::optional{0.0};
  });
}

IdleRecord record_of(const Rows& rows) {
  IdleRecord record;
  record.side = rows.front()->side;
  record.arm = rows.front()->arm;
  record.rows = static_cast<int>(rows.size());
  record.uptime_s = middle(rows, [](const Trial& t) { return t.before.holder_age_s; });
  record.pages = middle(rows, [](const Trial& t) { return t.before.pages; });
  record.resident = middle(rows, [](const Trial& t) { return count_of(t.before.resident); });
  record.device = middle(rows, [](const Trial& t) { return count_of(t.before.device); });
  record.clock_mhz = middle(rows, [](const Trial& t) { return t.before.clock_mhz; });
  record.bytes_read = middle(rows, [](const Trial& t) { return count_of(t.effects.bytes_read); });
  record.queue_ms = stage(rows, "queue");
  record.tokenize_ms = stage(rows, "tokenize");
  record.prefill_ms = stage(rows, "prefill");
  record.first_decode_ms = stage(rows, "first_decode");
  record.first_token_ms = middle(rows, [](const Trial& t) { return t.timing.wait_ms(); });
  const auto told = rows.back()->before.told.find("weights");
  if (told != rows.back()->before.told.end()) record.weights = told->second;
  return record;
}

boost::json::value number(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return boost::json::object{{"low", interval->low},
                             {"median", interval->middle},
                             {"high", interval->high},
                             {"count", interval->count},
                             {"kind", interval->kind()}};
}

}  // namespace

std::string_view name_of(Pausing pausing) {
  return pausing == Pausing::kReal ? "real" : "injected";
}

std::vector<std::chrono::minutes> usual_pauses() {
  using std::chrono::minutes;
  return {minutes{0}, minutes{1}, minutes{10}, minutes{60}, minutes{480}};
}

Study idle_study(const std::vector<std::chrono::minutes>& pauses, Pausing pausing) {
  Study study{.name = "idle", .arms = {}};
  for (const std::chrono::minutes pause : pauses) {
    Arm arm;
    arm.state.name = fmt::format("{}, {}", pause_text(pause), name_of(pausing));
    arm.state.about = pausing == Pausing::kReal
                          ? fmt::format("Used, then nobody asked for {}.", pause_text(pause))
                          : fmt::format("Used, then what happens in {} without a request, at once.",
                                        pause_text(pause));
    arm.pause = pause;
    arm.extra["gap_s"] = std::chrono::duration<double>{pause}.count();
    arm.extra["real"] = pausing == Pausing::kReal ? 1 : 0;
    study.arms.push_back(std::move(arm));
  }
  return study;
}

std::optional<double> IdleForecast::error() const {
  if (!foretold_ms || !real_ms || real_ms->middle <= 0) return std::nullopt;
  return foretold_ms->middle / real_ms->middle - 1;
}

std::vector<IdleForecast> idle_forecasts(const std::vector<Trial>& rows) {
  std::vector<std::string> sides;
  struct Waits {
    std::string pause;
    std::vector<double> foretold, real;
  };
  std::map<std::pair<std::string, double>, Waits> found;
  for (const Trial& row : rows) {
    const auto gap = row.extra.find("gap_s");
    const std::optional<double> wait = row.timing.wait_ms();
    if (!row.counts() || gap == row.extra.end() || !wait) continue;
    if (std::ranges::find(sides, row.side) == sides.end()) sides.push_back(row.side);
    Waits& waits = found[{row.side, gap->second}];
    waits.pause = row.arm.substr(0, row.arm.find(','));
    (is_real(row) ? waits.real : waits.foretold).push_back(*wait);
  }
  std::vector<IdleForecast> forecasts;
  for (const std::string& side : sides) {
    for (const auto& [key, waits] : found) {
      if (key.first != side) continue;
      forecasts.push_back({side, waits.pause, key.second, median_interval(waits.foretold),
                           median_interval(waits.real)});
    }
  }
  return forecasts;
}

std::string to_json(const std::vector<IdleForecast>& forecasts) {
  boost::json::array array;
  for (const IdleForecast& forecast : forecasts) {
    boost::json::object object{{"side", forecast.side},
                               {"pause", forecast.pause},
                               {"gap_s", forecast.gap_s},
                               {"foretold_ms", number(forecast.foretold_ms)},
                               {"real_ms", number(forecast.real_ms)}};
    if (const std::optional<double> error = forecast.error()) {
      object["error"] = *error;
      object["within"] = std::abs(*error) <= kForecastTolerance;
    }
    array.push_back(std::move(object));
  }
  return plain_json(array);
}

std::vector<IdleRecord> idle_records(const std::vector<Trial>& rows) {
  std::vector<Rows> groups;
  for (const Trial& row : rows) {
    if (!row.counts()) continue;
    const auto same = std::ranges::find_if(groups, [&row](const Rows& group) {
      return group.front()->side == row.side && group.front()->arm == row.arm;
    });
    if (same == groups.end()) {
      groups.push_back({&row});
    } else {
      same->push_back(&row);
    }
  }
  std::vector<IdleRecord> records;
  for (const Rows& group : groups) records.push_back(record_of(group));
  return records;
}

}  // namespace hearth::lab

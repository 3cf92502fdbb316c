// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <set>
#include <utility>

#include "base/json.h"
#include "lab/plain_json.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/prompts.h"

namespace hearth::lab {
namespace {

constexpr double kDay = 86400;
constexpr double kBackupAt = 3 * 3600;  // at night
constexpr int kSharedTokens = 128;      // what an application always says first
constexpr int kOwnTokens = 24;

double seconds_of(Duration duration) { return milliseconds_of(duration) / 1000; }

// Which requests of the trace are asked.
std::vector<std::size_t> chosen(std::size_t total, std::size_t wanted) {
  std::vector<std::size_t> indexes;
  const std::size_t stretches = std::max<std::size_t>(1, (wanted + kStretch - 1) / kStretch);
  for (std::size_t i = 0; i < stretches && indexes.size() < wanted; ++i) {
    // Where little is left between them they follow each other.
    const std::size_t free = indexes.empty() ? 0 : indexes.back() + 1;
    const std::size_t begin = std::max(total >= wanted ? i * total / stretches : 0, free);
    for (std::size_t n = begin; n < std::min(begin + kStretch, total); ++n) {
      if (indexes.size() < wanted) indexes.push_back(n);
    }
  }
  return indexes;
}

bool night_between(double before_s, double after_s) {
  return std::floor((after_s - kBackupAt) / kDay) > std::floor((before_s - kBackupAt) / kDay);
}

bool is_repeat(const Trial& trial) { return trial.extra.contains("immediate_repeat"); }

struct SideRows {
  std::string name;
  std::vector<const Trial*> mixture;
  std::vector<double> failed;                          // ms until it was over
  std::map<std::string, std::vector<double>> repeats;  // by model
  std::set<int> steps;                                 // that have a row of any kind
  double days = 1;
  int planned = 0;
};

double extra_of(const Trial& row, const char* name) {
  const auto found = row.extra.find(name);
  return found == row.extra.end() ? 0 : found->second;
}

// Until a request was given up that got no answer; nullopt: it got one, or was never sent.
std::optional<double> given_up_ms(const Trial& row) {
  if (row.failure.empty() || row.timing.total_ms <= 0) return std::nullopt;
  return row.timing.start_ms.value_or(0) + row.timing.total_ms;
}

SideRows& side_of(std::vector<SideRows>& sides, const std::string& name) {
  const auto found = std::ranges::find(sides, name, &SideRows::name);
  if (found != sides.end()) return *found;
  sides.emplace_back();
  sides.back().name = name;
  return sides.back();
}

void add_step(SideRows& side, const Trial& row) {
  side.steps.insert(row.block);
  if (const double days = extra_of(row, "days"); days > 0) side.days = days;
  side.planned = std::max(side.planned, static_cast<int>(extra_of(row, "planned")));
  if (const auto ms = given_up_ms(row)) side.failed.push_back(*ms);
  if (row.counts() && row.timing.wait_ms()) side.mixture.push_back(&row);
}

std::vector<SideRows> sides_of(const std::vector<Trial>& rows) {
  std::vector<SideRows> sides;
  for (const Trial& row : rows) {
    if (row.study != "mix") continue;
    SideRows& side = side_of(sides, row.side);
    if (!is_repeat(row)) {
      add_step(side, row);
    } else if (row.counts() && row.timing.wait_ms()) {
      side.repeats[row.model].push_back(*row.timing.wait_ms());
    }
  }
  std::erase_if(sides,
                [](const SideRows& side) { return side.mixture.empty() && side.failed.empty(); });
  return sides;
}

void add_quantiles(MixHeadline& headline, const SideRows& side) {
  std::vector<double> waits;
  for (const Trial* row : side.mixture) waits.push_back(*row->timing.wait_ms());
  const double longest = waits.empty() ? 0 : std::ranges::max(waits);
  for (const double ms : side.failed) waits.push_back(std::max(ms, longest));
  headline.p50_ms = quantile(waits, 0.5).value_or(0);
  headline.p95_ms = quantile(waits, 0.95).value_or(0);
  headline.p99_ms = quantile(waits, 0.99).value_or(0);
}

// Why what is waited beyond a repeat cannot be told; empty: it can.
std::string why_not_told(const MixHeadline& headline, const SideRows& side) {
  if (side.mixture.empty()) return "no request counts";
  for (const Trial* row : side.mixture) {
    if (headline.repeats_ms.contains(row->model)) continue;
    return "no immediate repeat" + (row->model.empty() ? "" : " of " + row->model) +
           " counts, with which waits could be compared";
  }
  return {};
}

void add_seconds(MixHeadline& headline, const SideRows& side) {
  headline.not_told = why_not_told(headline, side);
  if (!headline.not_told.empty()) return;
  const double each_a_day = headline.requests_a_day / headline.requests;
  double all = 0, repeats = 0;
  for (const Trial* row : side.mixture) {
    const double repeat = headline.repeats_ms.at(row->model);
    const double seconds = std::max(0.0, *row->timing.wait_ms() - repeat) / 1000 * each_a_day;
    repeats += repeat;
    all += seconds;
    headline.seconds_a_day_by_layer[cold_layer_of(*row)] += seconds;
  }
  headline.seconds_a_day = all;
  headline.repeat_ms = repeats / headline.requests;
}

MixHeadline headline_of(const SideRows& side) {
  MixHeadline headline;
  headline.side = side.name;
  headline.requests = static_cast<int>(side.mixture.size());
  headline.failed = static_cast<int>(side.failed.size());
  headline.planned = std::max(side.planned, static_cast<int>(side.steps.size()));
  headline.requests_a_day = headline.planned / side.days;
  for (const auto& [model, waits] : side.repeats) {
    headline.repeats_ms[model] = *quantile(waits, 0.5);
  }
  add_quantiles(headline, side);
  add_seconds(headline, side);
  return headline;
}

boost::json::object object_of(const std::map<std::string, double>& numbers) {
  boost::json::object object;
  for (const auto& [name, number] : numbers) object[repair_utf8(name)] = number;
  return object;
}

}  // namespace

HouseholdMix mixture_of(const household::Trace& trace, std::size_t models, int requests,
                        Meanwhile meanwhile) {
  HouseholdMix mix;
  const std::vector<std::size_t> indexes =
      chosen(trace.requests.size(), static_cast<std::size_t>(std::max(requests, 1)));
  std::vector<std::optional<double>> last(models);
  std::size_t next = 0;
  double before_s = 0;
  for (std::size_t n = 0; n < trace.requests.size() && next < indexes.size(); ++n) {
    const household::TraceRequest& request = trace.requests[n];
    const double at_s = seconds_of(request.at);
    const std::size_t model = request.model % models;
    if (n == indexes[next]) {
      MixStep step;
      step.day = at_s / kDay;
      step.trace_model = request.model;
      step.model = model;
      if (last[model]) step.pause_s = at_s - *last[model];
      step.after_backup = meanwhile == Meanwhile::kBackup && night_between(before_s, at_s);
      step.number = static_cast<int>(++next);
      mix.steps.push_back(step);
    }
    last[model] = at_s;
    before_s = at_s;
  }
  const double length =
      trace.requests.empty() ? 0 : std::ceil(seconds_of(trace.requests.back().at) / kDay);
  mix.days = trace.requests.empty() ? 0
                                    : length * static_cast<double>(mix.steps.size()) /
                                          static_cast<double>(trace.requests.size());
  return mix;
}

Arm arm_of(const MixStep& step, const Habits& habits, const HouseholdMix& mix) {
  const bool unloaded =
      habits.unloads_after &&
      (!step.pause_s ||
       *step.pause_s >= std::chrono::duration<double>{*habits.unloads_after}.count());
  Arm arm;
  arm.state.name = "household";
  arm.state.about = "Requests as a household makes them, each after the events of its pause.";
  arm.state.weights = unloaded ? StateSpec::Weights::kUnloaded : StateSpec::Weights::kAsIs;
  arm.state.prompts = StateSpec::Prompts::kAsIs;
  if (step.after_backup) {
    arm.state.competitor = Competitor::kBackupScan;
    arm.state.competes = StateSpec::When::kBefore;
  }
  arm.extra = {{"day", step.day},
               {"days", mix.days},
               {"planned", static_cast<double>(mix.steps.size())},
               {"unloaded", unloaded ? 1.0 : 0.0}};
  if (step.pause_s) arm.extra["pause_s"] = *step.pause_s;
  return arm;
}

Question question_of(const MixStep& step, int new_tokens) {
  Question question;
  question.prompt =
      prompt_about(static_cast<int>(step.trace_model), kSharedTokens, kOwnTokens, step.number);
  question.new_tokens = new_tokens;
  return question;
}

Arm repeat_arm() {
  Arm arm;
  arm.state.name = "immediate repeat";
  arm.state.about = "The same question for the second time: the figure that flatters.";
  arm.state.prompts = StateSpec::Prompts::kLive;
  arm.prompt_tokens = kSharedTokens + kOwnTokens;
  arm.extra["immediate_repeat"] = 1;
  return arm;
}

std::string cold_layer_of(const Trial& trial) {
  static const std::map<std::string, std::string> kByClass{
      {"artifact-cold", "artifact"}, {"storage-cold", "pages"}, {"load-cold", "weights"},
      {"compile-cold", "compiled"},  {"prefix-cold", "prefix"}, {"warm", "prompt"}};
  const auto told = kByClass.find(trial.response_class);
  if (told != kByClass.end()) return told->second;
  const auto unloaded = trial.extra.find("unloaded");
  if (unloaded == trial.extra.end() || unloaded->second == 0) return "prompt";
  return trial.before.pages && *trial.before.pages < 0.99 ? "pages" : "weights";
}

std::vector<MixHeadline> mix_headlines(const std::vector<Trial>& rows) {
  std::vector<MixHeadline> headlines;
  for (const SideRows& side : sides_of(rows)) headlines.push_back(headline_of(side));
  return headlines;
}

std::string missing_text(const MixHeadline& headline) {
  std::string text;
  if (headline.requests < headline.planned) {
    text = fmt::format("{} of {} requests count, and stand for all", headline.requests,
                       headline.planned);
  }
  if (headline.failed > 0) {
    text += fmt::format("{}{} got no answer: the percentiles are what they are at least",
                        text.empty() ? "" : "; ", headline.failed);
  }
  return text;
}

std::string to_json(const std::vector<MixHeadline>& headlines) {
  boost::json::array array;
  for (const MixHeadline& headline : headlines) {
    boost::json::object object{{"side", repair_utf8(headline.side)},
                               {"planned", headline.planned},
                               {"requests", headline.requests},
                               {"failed", headline.failed},
                               {"requests_a_day", headline.requests_a_day},
                               {"p50_ms", headline.p50_ms},
                               {"p95_ms", headline.p95_ms},
                               {"p99_ms", headline.p99_ms},
                               {"at_least", headline.failed > 0}};
    if (headline.repeat_ms) object["repeat_ms"] = *headline.repeat_ms;
    if (!headline.repeats_ms.empty()) {
      object["repeat_ms_by_model"] = object_of(headline.repeats_ms);
    }
    if (headline.seconds_a_day) {
      object["seconds_a_day"] = *headline.seconds_a_day;
      object["seconds_a_day_by_layer"] = object_of(headline.seconds_a_day_by_layer);
    } else {
      object["seconds_a_day_not_told"] = repair_utf8(headline.not_told);
    }
    array.push_back(std::move(object));
  }
  return plain_json(array);
}

}  // namespace hearth::lab

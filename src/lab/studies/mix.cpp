// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/mix.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <utility>

#include "lab/statistics/statistics.h"
#include "lab/studies/prompts.h"

namespace hearth::lab {
namespace {

constexpr double kDay = 86400;
constexpr double kBackupAt = 3 * 3600;  // at night
constexpr int kStretch = 20;            // requests that follow each other
constexpr int kSharedTokens = 128;      // what an application always says first
constexpr int kOwnTokens = 24;

double seconds_of(Duration duration) { return milliseconds_of(duration) / 1000; }

// Which requests of the trace are asked.
std::vector<std::size_t> chosen(std::size_t total, std::size_t wanted) {
  std::vector<std::size_t> indexes;
  const std::size_t stretches = std::max<std::size_t>(1, (wanted + kStretch - 1) / kStretch);
  for (std::size_t i = 0; i < stretches && indexes.size() < wanted; ++i) {
    const std::size_t begin = total >= wanted ? i * total / stretches : i * kStretch;
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
  std::vector<double> waits, repeats;
  double days = 1;
};

std::vector<SideRows> sides_of(const std::vector<Trial>& rows) {
  std::vector<SideRows> sides;
  for (const Trial& row : rows) {
    const std::optional<double> wait = row.timing.wait_ms();
    if (row.study != "mix" || !row.counts() || !wait) continue;
    auto side = std::ranges::find(sides, row.side, &SideRows::name);
    if (side == sides.end()) {
      sides.push_back({.name = row.side, .mixture = {}, .waits = {}, .repeats = {}});
      side = std::prev(sides.end());
    }
    if (is_repeat(row)) {
      side->repeats.push_back(*wait);
      continue;
    }
    side->mixture.push_back(&row);
    side->waits.push_back(*wait);
    const auto days = row.extra.find("days");
    if (days != row.extra.end() && days->second > 0) side->days = days->second;
  }
  return sides;
}

MixHeadline headline_of(const SideRows& side) {
  MixHeadline headline;
  headline.side = side.name;
  headline.requests = static_cast<int>(side.mixture.size());
  headline.requests_a_day = headline.requests / side.days;
  headline.repeat_ms = quantile(side.repeats, 0.5);
  headline.p50_ms = quantile(side.waits, 0.5).value_or(0);
  headline.p95_ms = quantile(side.waits, 0.95).value_or(0);
  headline.p99_ms = quantile(side.waits, 0.99).value_or(0);
  for (std::size_t i = 0; i < side.mixture.size(); ++i) {
    const double beyond = std::max(0.0, side.waits[i] - headline.repeat_ms.value_or(0));
    const double a_day = beyond / 1000 / side.days;
    headline.seconds_a_day += a_day;
    headline.seconds_a_day_by_layer[cold_layer_of(*side.mixture[i])] += a_day;
  }
  return headline;
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

Arm arm_of(const MixStep& step, const Habits& habits, double days) {
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
  arm.extra = {{"day", step.day}, {"days", days}, {"unloaded", unloaded ? 1.0 : 0.0}};
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

std::string to_json(const std::vector<MixHeadline>& headlines) {
  boost::json::array array;
  for (const MixHeadline& headline : headlines) {
    boost::json::object layers;
    for (const auto& [layer, seconds] : headline.seconds_a_day_by_layer) layers[layer] = seconds;
    boost::json::object object{{"side", headline.side},
                               {"requests", headline.requests},
                               {"requests_a_day", headline.requests_a_day},
                               {"p50_ms", headline.p50_ms},
                               {"p95_ms", headline.p95_ms},
                               {"p99_ms", headline.p99_ms},
                               {"seconds_a_day", headline.seconds_a_day},
                               {"seconds_a_day_by_layer", std::move(layers)}};
    if (headline.repeat_ms) object["repeat_ms"] = *headline.repeat_ms;
    array.push_back(std::move(object));
  }
  return boost::json::serialize(array);
}

}  // namespace hearth::lab

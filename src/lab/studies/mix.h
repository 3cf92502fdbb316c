// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/arm.h"
#include "lab/studies/habits.h"
#include "lab/trial.h"
#include "policy/household/trace.h"

namespace hearth::lab {

// One request of a household, as it is replayed.
struct MixStep {
  double day = 0;               // when it came, since the trace began
  std::size_t trace_model = 0;  // whose own beginning its prompt has
  std::size_t model = 0;        // of those given
  // Since the last request for that model in the whole trace; unset: there was none.
  std::optional<double> pause_s;
  bool after_backup = false;  // a night's backup ran since the request before it
  int number = 0;             // of its prompt
};

struct HouseholdMix {
  std::vector<MixStep> steps;
  double days = 0;  // that so many requests stand for
};

// Requests of a trace that follow each other, and are asked of one side without another in between.
inline constexpr std::size_t kStretch = 20;

// What of a trace is asked: all of it where `requests` is enough, else stretches of neighbouring
// requests, evenly from all of it, so that nights and weekends keep their share. The trace's models
// are dealt out to `models` in turn. `requests`, `models` > 0.
HouseholdMix mixture_of(const household::Trace& trace, std::size_t models, int requests,
                        Meanwhile meanwhile);

// The state in which the server meets a step of `mix`, with `extra` for the report: "day", "days"
// and "planned" (how many steps stand for them), "pause_s", "unloaded".
Arm arm_of(const MixStep& step, const Habits& habits, const HouseholdMix& mix);
Question question_of(const MixStep& step, int new_tokens);

// The question asked at once again, with which others are compared: "immediate repeat".
Arm repeat_arm();

// What was cold, by what the server told of a row, else by its proof: "artifact", "pages",
// "weights", "compiled", "prefix"; "prompt": nothing was, text that is new had to be evaluated.
std::string cold_layer_of(const Trial& trial);

// What a day in the household costs beyond a warm repeat.
struct MixHeadline {
  std::string side;
  int planned = 0;   // requests of the mixture
  int requests = 0;  // of them, those that count
  int failed = 0;    // those that got no answer: hung, broken off
  double requests_a_day = 0;
  // Median of the immediate repeats, by model; and the mean of these over the requests that count,
  // where each of them has one.
  std::map<std::string, double> repeats_ms;
  std::optional<double> repeat_ms;
  // Of requests that count and of failed ones, which stand behind all others: a person would have
  // waited for at least as long. So these are lower bounds where `failed` is not 0.
  double p50_ms = 0, p95_ms = 0, p99_ms = 0;
  // Mean of wait - repeat of the same model, never below 0, by requests a day: what does not count
  // is taken to be like what does. Unset without repeats; why is in `not_told`.
  std::optional<double> seconds_a_day;
  std::map<std::string, double> seconds_a_day_by_layer;  // see cold_layer_of()
  std::string not_told;
};

// Of each side with rows that count or failed requests.
std::vector<MixHeadline> mix_headlines(const std::vector<Trial>& rows);

// "at least 1.2 s" and the like need it: what is to be said of requests that do not count; empty:
// all do.
std::string missing_text(const MixHeadline& headline);

// An array of objects with these members.
std::string to_json(const std::vector<MixHeadline>& headlines);

}  // namespace hearth::lab

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

// What of a trace is asked: all of it where `requests` is enough, else stretches of neighbouring
// requests, evenly from all of it, so that nights and weekends keep their share. The trace's models
// are dealt out to `models` in turn. `requests`, `models` > 0.
HouseholdMix mixture_of(const household::Trace& trace, std::size_t models, int requests,
                        Meanwhile meanwhile);

// The state in which the server meets a step, with `extra` for the report: "day", "days",
// "pause_s", "unloaded".
Arm arm_of(const MixStep& step, const Habits& habits, double days);
Question question_of(const MixStep& step, int new_tokens);

// The question asked at once again, with which others are compared: "immediate repeat".
Arm repeat_arm();

// What was cold, by what the server told of a row, else by its proof: "artifact", "pages",
// "weights", "compiled", "prefix"; "prompt": nothing was, text that is new had to be evaluated.
std::string cold_layer_of(const Trial& trial);

// What a day in the household costs beyond a warm repeat.
struct MixHeadline {
  std::string side;
  int requests = 0;
  double requests_a_day = 0;
  std::optional<double> repeat_ms;  // median of the immediate repeats
  double p50_ms = 0, p95_ms = 0, p99_ms = 0;
  double seconds_a_day = 0;  // sum over requests of wait - repeat, never below 0
  std::map<std::string, double> seconds_a_day_by_layer;  // see cold_layer_of()
};

// Of rows that count, and of those with a failure none. A side without immediate repeats is
// compared with no wait at all.
std::vector<MixHeadline> mix_headlines(const std::vector<Trial>& rows);

// An array of objects with these members.
std::string to_json(const std::vector<MixHeadline>& headlines);

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/statistics/statistics.h"
#include "lab/studies/arm.h"
#include "lab/trial.h"

namespace hearth::lab {

// How a pause comes about: its events at once, or by waiting.
enum class Pausing { kInjected, kReal };
std::string_view name_of(Pausing pausing);  // "injected", "real"

// 0, 1, 10, 60 and 480 minutes.
std::vector<std::chrono::minutes> usual_pauses();

// A fixed short prompt once after each pause: arms "10 min, injected" with `extra` "gap_s" and, for
// a real one, "real".
Study idle_study(const std::vector<std::chrono::minutes>& pauses, Pausing pausing);

// What injected events foretold for one pause of one side, and what waiting it out gave.
struct IdleForecast {
  std::string side;
  std::string pause;  // "10 min"
  double gap_s = 0;
  std::optional<Interval> foretold_ms;
  std::optional<Interval> real_ms;

  // Medians: foretold / real - 1. nullopt without both.
  std::optional<double> error() const;
};
inline constexpr double kForecastTolerance = 0.15;

// Of all sides and pauses that have rows that count, by side in their order, then by pause.
std::vector<IdleForecast> idle_forecasts(const std::vector<Trial>& rows);

// An array of {"side", "pause", "gap_s", "foretold_ms", "real_ms", "error", "within"}.
std::string to_json(const std::vector<IdleForecast>& forecasts);

// What was recorded for one pause of one side: medians of its rows that count. Unset: not
// observable.
struct IdleRecord {
  std::string side;
  std::string arm;
  int rows = 0;
  std::optional<double> uptime_s;  // of the process that holds, or is to hold, the model
  std::optional<double> pages;     // share that is resident
  std::optional<double> resident;  // bytes, of all processes
  std::optional<double> device;    // bytes
  std::optional<double> clock_mhz;
  std::optional<double> bytes_read;
  std::optional<double> queue_ms;
  std::optional<double> tokenize_ms;
  std::optional<double> prefill_ms;
  std::optional<double> first_decode_ms;
  std::optional<double> first_token_ms;  // with a start of the server, where one is waited for
  std::string weights;                   // the level that the server told; empty: it does not
};

// In the order in which they were met first.
std::vector<IdleRecord> idle_records(const std::vector<Trial>& rows);

}  // namespace hearth::lab

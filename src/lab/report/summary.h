// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/run_directory.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/ablate.h"
#include "lab/studies/idle.h"
#include "lab/studies/mix.h"
#include "lab/trial.h"

namespace hearth::lab {

// One side in one arm: its rows that count, as figures.
struct Cell {
  std::string side;
  std::string arm;
  int counted = 0;               // rows
  int flagged = 0;               // measured, but they do not count
  int failed = 0;                // not measured
  std::vector<double> waits_ms;  // of those that got a first token
  // By name: "wait_ms", "first_token_ms", "total_ms", "start_ms", "overlap_ms", "other_ms",
  // "tokens_per_second", "bytes_read", "peak_resident", "processor_s", "major_faults", "joules",
  // and of the proof "pages", "pages_evicted", "load_set", "holder_age_s", "resident", "anonymous",
  // "file_backed", "locked", "device", "clock_mhz". What no row has is missing.
  std::map<std::string, Interval> figures;
  std::map<std::string, Interval> stages_ms;
  // By name, see proof_words(): how many of the rows say what, the commonest first.
  std::map<std::string, std::vector<std::pair<std::string, int>>> words;
  std::optional<std::size_t> typical;  // the row whose wait is the middle one, see RunDirectory
  std::string verdict_text;            // both of that row
  std::string verdict_code;

  const Interval* figure(const std::string& name) const;
};

// Waits of the first side by waits of another, in the same block of the same arm.
struct Ratio {
  std::string side;   // the first one
  std::string other;  // what it is compared to
  std::string arm;
  Interval ratio;  // below 1: the first side is faster
};

// Waits over something that was varied.
struct Curve {
  std::string side;
  std::string series;  // what follows ", " in the arms' names: "injected"; may be empty
  struct Point {
    double at = 0;
    std::string label;  // the arm's name before ", "
    Interval wait_ms;
  };
  std::vector<Point> points;  // by `at`
};

// Rows that do not count, with the reason.
struct LeftOut {
  std::size_t row = 0;  // see RunDirectory
  std::string why;
};

// A run in figures.
//
// What studies write for it:
// - curves: a row's `extra` has one of "gap_s", "prompt_length", "storage_mb_s" (what was varied),
//   and its arm is named "POINT" or "POINT, SERIES": "10 min", "10 min, injected",
//   "256 tokens, weights cold".
// - layers' worth, mixtures and forecasts: see studies/ablate.h, mix.h and idle.h.
struct Summary {
  std::vector<std::string> sides;  // by name, "hearth..." first: others are compared to that one
  std::vector<std::string> arms;
  std::vector<Cell> cells;  // by arm, then side
  std::vector<Ratio> ratios;
  std::map<std::string, std::vector<Curve>> curves;  // by what was varied
  std::vector<Additivity> worths;
  std::vector<MixHeadline> mixtures;
  std::vector<IdleForecast> forecasts;  // of pauses that have both
  std::vector<LeftOut> left_out;

  const Cell* cell(const std::string& side, const std::string& arm) const;
  const Ratio* ratio(const std::string& other, const std::string& arm) const;
};

// Pure. Rows of one arm and side that follow each other because one was tried again are told apart
// by their flags alone.
Summary summarise(const RunInfo& info, const std::vector<Trial>& rows);

// One JSON object.
std::string to_json(const RunInfo& info, const Summary& summary);

// What a stage of the timeline works for: "queue", "artifact", "pages", "weights" ("start" too),
// "compiled", "prefix" (what was kept of a prompt), "prompt" (what has to be evaluated), "decode",
// "untold" for what a server does not tell, and "other" for a stage that is unknown.
std::string layer_of_stage(const std::string& stage);

}  // namespace hearth::lab

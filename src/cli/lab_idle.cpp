// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "cli/format.h"
#include "cli/lab_studies.h"
#include "cli/lab_verb.h"
#include "cli/lines.h"
#include "cli/program.h"
#include "cli/session.h"
#include "cli/table.h"
#include "lab/studies/idle.h"
#include "lab/studies/idle_run.h"

namespace hearth::cli {
namespace {

using Optional = std::optional<double>;

std::string milliseconds(const Optional& ms) { return ms ? format_milliseconds(*ms) : "?"; }
std::string bytes(const Optional& count) {
  return count ? format_bytes(Bytes{static_cast<std::uint64_t>(*count)}) : "?";
}

// What was recorded for each pause.
std::string records_text(const std::vector<lab::Trial>& rows, const OutputStyle& style) {
  Table table{{{"SIDE"},
               {"PAUSE"},
               {"UPTIME", Align::kRight, 3},
               {"WEIGHTS", Align::kLeft, 4},
               {"PAGES", Align::kRight, 2},
               {"RAM", Align::kRight, 5},
               {"VRAM", Align::kRight, 11},
               {"READ", Align::kRight, 1},
               {"CLOCK", Align::kRight, 10},
               {"QUEUE", Align::kRight, 9},
               {"TOKENIZE", Align::kRight, 8},
               {"PREFILL", Align::kRight, 6},
               {"FIRST DECODE", Align::kRight, 7},
               {"FIRST TOKEN", Align::kRight}}};
  for (const lab::IdleRecord& record : lab::idle_records(rows)) {
    table.add({record.side, record.arm, record.uptime_s ? format_span(*record.uptime_s) : "?",
               record.weights.empty() ? "?" : record.weights,
               record.pages ? format_percent(*record.pages) : "?", bytes(record.resident),
               bytes(record.device), bytes(record.bytes_read),
               record.clock_mhz ? fmt::format("{:.0f} MHz", *record.clock_mhz) : "?",
               milliseconds(record.queue_ms), milliseconds(record.tokenize_ms),
               milliseconds(record.prefill_ms), milliseconds(record.first_decode_ms),
               milliseconds(record.first_token_ms)});
  }
  return table.empty() ? "" : "\n" + table.render(style);
}

std::string verdict(const lab::IdleForecast& forecast) {
  const Optional error = forecast.error();
  if (!error) return forecast.real_ms ? "not injected" : "not waited out";
  return fmt::format("{:+.0f} %, {}", 100 * *error,
                     std::abs(*error) <= lab::kForecastTolerance ? "foretold" : "off");
}

std::string forecasts_text(const std::vector<lab::Trial>& rows, const OutputStyle& style) {
  Table table{{{"SIDE"},
               {"PAUSE"},
               {"INJECTED", Align::kRight},
               {"REAL", Align::kRight},
               {"INJECTED TO REAL"}}};
  bool any_real = false;
  for (const lab::IdleForecast& forecast : lab::idle_forecasts(rows)) {
    any_real = any_real || forecast.real_ms;
    table.add({forecast.side, forecast.pause,
               forecast.foretold_ms ? format_milliseconds(forecast.foretold_ms->middle) : "",
               forecast.real_ms ? format_milliseconds(forecast.real_ms->middle) : "",
               verdict(forecast)});
  }
  return any_real ? "\n" + table.render(style) : "";
}

std::vector<std::chrono::minutes> pauses_of(const LabOptions& options) {
  if (options.gaps.empty()) return lab::usual_pauses();
  std::vector<std::chrono::minutes> pauses;
  for (const int gap : options.gaps) pauses.emplace_back(gap);
  std::ranges::sort(pauses);
  pauses.erase(std::ranges::unique(pauses).begin(), pauses.end());
  return pauses;
}

bool servers_stay(const LabOptions& options) { return !starts_servers(options); }

void wait_out(LabBench& bench, const LabSides& sides, const lab::Study& study,
              lab::Meanwhile meanwhile) {
  const LabBench::Work work = bench.work_once_with(sides);
  lab::RealPauses pauses{
      {.driver = *work.driver,
       .rows = bench.rows(),
       .machine = bench.machine(),
       .clock = Clock::real(),
       .stop = &LabBench::interrupted,
       .on_waiting = [&bench](std::chrono::seconds left) { bench.progress().waiting(left); },
       .servers_stay = servers_stay(bench.options())}};
  pauses.run(study, bench.options().real_repetitions, bench.options().seed, meanwhile);
}

Result<std::string> idle(LabBench& bench) {
  const LabOptions& options = bench.options();
  const auto pauses = pauses_of(options);
  const bool fast = options.mode != "real", wait = options.mode != "fast";
  const lab::Study all_injected = lab::idle_study(pauses, lab::Pausing::kInjected);
  const lab::Study all_real = lab::idle_study(pauses, lab::Pausing::kReal);
  const Result<> good = check_only(
      options.only, {fast ? all_injected : lab::Study{}, wait ? all_real : lab::Study{}});
  if (!good) return Failed{good.error()};
  const lab::Study injected = lab::only(all_injected, options.only);
  const lab::Study real = lab::only(all_real, options.only);
  const auto meanwhile =
      options.with == "backup" ? lab::Meanwhile::kBackup : lab::Meanwhile::kNothing;
  SideChanges changes;
  if (wait) changes.idle_timer = SideChanges::IdleTimer::kAsItComes;
  auto sides = bench.start(changes);
  if (!sides) return Failed{sides.error()};
  std::vector<lab::Arm> arms;
  if (fast) arms.insert(arms.end(), injected.arms.begin(), injected.arms.end());
  if (wait) arms.insert(arms.end(), real.arms.begin(), real.arms.end());
  bench.describe(arms, *sides);
  // Half before and half after what is waited out, so that a machine which becomes slower in the
  // meantime does not pass for a difference.
  const LabBench::Work work = bench.work_with(*sides);
  const int blocks = options.blocks();
  if (fast) work.driver->run(injected, wait ? (blocks + 1) / 2 : blocks, options.seed, meanwhile);
  if (wait) wait_out(bench, *sides, real, meanwhile);
  if (fast && wait) work.driver->run(injected, blocks, options.seed, meanwhile);
  const std::vector<lab::Trial>& rows = bench.rows().rows();
  bench.write("forecasts.json", lab::to_json(lab::idle_forecasts(rows)) + "\n");
  return records_text(rows, style_of(1)) + forecasts_text(rows, style_of(1));
}

}  // namespace

void add_lab_idle(CLI::App& lab, const CLI::App& app) {
  const StudyVerb added =
      add_study(lab, app, "idle", "A short prompt after pauses of 0 to 480 minutes", idle);
  added.verb
      ->add_option("--mode", added.options->mode,
                   "fast: what a pause does to a server is done at once; real: it is waited out; "
                   "both: and compared")
      ->check(CLI::IsMember({"fast", "real", "both"}))
      ->capture_default_str();
  added.verb->add_option("--gaps", added.options->gaps, "Minutes: 0,1,10; without 0,1,10,60,480")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 7 * 24 * 60))
      ->type_name("MINUTES");
  added.verb
      ->add_option("--real-repetitions", added.options->real_repetitions,
                   "How often each pause is waited out")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("COUNT");
  added.verb
      ->add_option("--with", added.options->with,
                   "backup: one reads files 30 minutes into each pause")
      ->check(CLI::IsMember({"backup"}));
  added.verb->footer(example("hearth lab idle --model smollm2.gguf --mode both --gaps 0,1,10"));
}

}  // namespace hearth::cli

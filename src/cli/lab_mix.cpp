// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "cli/format.h"
#include "cli/lab_household.h"
#include "cli/lab_studies.h"
#include "cli/lab_verb.h"
#include "cli/lines.h"
#include "cli/program.h"
#include "cli/session.h"
#include "cli/table.h"
#include "lab/studies/mix.h"
#include "lab/studies/mix_run.h"

namespace hearth::cli {
namespace {

constexpr int kDays = 14;

std::string layers_of(const lab::MixHeadline& headline) {
  std::vector<std::pair<double, std::string>> layers;
  for (const auto& [layer, seconds] : headline.seconds_a_day_by_layer) {
    layers.emplace_back(seconds, layer);
  }
  std::ranges::sort(layers, std::greater{});
  std::string text;
  for (const auto& [seconds, layer] : layers) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {:.1f}", layer, seconds);
  }
  return text;
}

std::string headlines_text(const std::vector<lab::Trial>& rows, const OutputStyle& style) {
  Table table{{{"SIDE"},
               {"REPEAT", Align::kRight},
               {"P50", Align::kRight},
               {"P95", Align::kRight},
               {"P99", Align::kRight},
               {"S A DAY", Align::kRight},
               {"BY WHAT WAS COLD"}}};
  std::string notes;
  for (const lab::MixHeadline& headline : lab::mix_headlines(rows)) {
    const char* at_least = headline.failed > 0 ? ">= " : "";
    table.add({headline.side, headline.repeat_ms ? format_milliseconds(*headline.repeat_ms) : "?",
               format_milliseconds(headline.p50_ms),
               at_least + format_milliseconds(headline.p95_ms),
               at_least + format_milliseconds(headline.p99_ms),
               headline.seconds_a_day ? fmt::format("{:.1f}", *headline.seconds_a_day) : "?",
               headline.seconds_a_day ? layers_of(headline) : headline.not_told});
    const std::string missing = lab::missing_text(headline);
    if (!missing.empty()) notes += sentence_line(headline.side + ": " + missing + ".", 2, style);
  }
  if (table.empty()) return "";
  return "\nSeconds that a day waits beyond an immediate repeat:\n" + table.render(style) + notes;
}

// The servers of all models, in one list.
Result<std::vector<lab::MixRun::Model>> start_all(LabBench& bench, LabSides& all) {
  std::vector<lab::MixRun::Model> models;
  for (const std::string& path : bench.models()) {
    auto sides = bench.start({.model = path,
                              .folder = "model-" + std::to_string(models.size()),
                              .within = {},
                              .configuration = {},
                              .name = {}});
    if (!sides) return Failed{sides.error()};
    lab::MixRun::Model model;
    for (std::size_t i = 0; i < sides->sides.size(); ++i) {
      model.sides.push_back(all.sides.size() + i);
    }
    if (!path.starts_with('/')) model.name = path;
    model.label = std::filesystem::path{path}.filename().string();
    const auto same = std::ranges::count(models, model.label, &lab::MixRun::Model::label);
    if (same > 0) model.label += fmt::format(" #{}", models.size() + 1);
    if (!models.empty() && model.sides.size() != models.front().sides.size()) {
      return fail(ErrorCode::kUnavailable, "not all servers could be had for " + path);
    }
    models.push_back(std::move(model));
    all.sides.insert(all.sides.end(), sides->sides.begin(), sides->sides.end());
    for (auto& target : sides->targets) all.targets.push_back(std::move(target));
  }
  return models;
}

Result<std::string> mix(LabBench& bench) {
  const LabOptions& options = bench.options();
  const auto trace = household_from(options.trace, options.seed, kDays);
  if (!trace) return Failed{trace.error()};
  const lab::HouseholdMix wanted = lab::mixture_of(
      *trace, bench.models().size(), options.requests,
      options.with == "backup" ? lab::Meanwhile::kBackup : lab::Meanwhile::kNothing);
  LabSides sides;
  auto models = start_all(bench, sides);
  if (!models) return Failed{models.error()};
  const std::vector<lab::Arm> arms{lab::repeat_arm(), lab::arm_of({}, {}, wanted)};
  bench.describe(arms, sides);
  const LabBench::Work work = bench.work_once_with(sides);
  lab::MixRun run{
      .driver = *work.driver,
      .models = std::move(*models),
      .stop = &LabBench::interrupted,
      .on_progress = [&bench](int done, int all) { bench.progress().count(done, all); }};
  lab::replay_mix(run, wanted);
  const auto headlines = lab::mix_headlines(bench.rows().rows());
  bench.write("mix.json", lab::to_json(headlines) + "\n");
  return headlines_text(bench.rows().rows(), style_of(1));
}

}  // namespace

void add_lab_mix(CLI::App& lab, const CLI::App& app) {
  const StudyVerb added =
      add_study(lab, app, "mix",
                "What a household waits for: its requests, replayed as they would come", mix);
  added.verb
      ->add_option("--trace", added.options->trace,
                   "A file of seconds,model,size_gb,service_s; without it a household is made up")
      ->type_name("FILE");
  added.verb->add_option("--requests", added.options->requests, "How many of it are asked")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->type_name("COUNT");
  added.verb
      ->add_option("--with", added.options->with, "backup: one reads files each night at 3:00")
      ->check(CLI::IsMember({"backup"}));
  added.verb->footer(
      example("hearth lab mix --model chat.gguf --model small.gguf --against ollama"));
}

}  // namespace hearth::cli

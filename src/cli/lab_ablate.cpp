// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/display_width.h"
#include "cli/lab_studies.h"
#include "cli/lab_verb.h"
#include "cli/lines.h"
#include "cli/program.h"
#include "cli/session.h"
#include "lab/studies/ablate.h"
#include "lab/studies/storage_tier.h"

namespace hearth::cli {
namespace {

// Adds all sides of one lot to another.
void join(LabSides& sides, LabSides more) {
  sides.sides.insert(sides.sides.end(), more.sides.begin(), more.sides.end());
  for (auto& target : more.targets) sides.targets.push_back(std::move(target));
}

// Hearth with one of its layers switched off, beside the others.
Result<> add_without(LabBench& bench, LabSides& sides) {
  for (const std::string& layer : bench.options().without) {
    auto more = bench.start({.model = {},
                             .folder = {},
                             .within = {},
                             .configuration = {{"layers_off", "[\"" + layer + "\"]"}},
                             .name = "hearth without " + layer});
    if (!more) return Failed{more.error()};
    join(sides, std::move(*more));
  }
  return {};
}

struct Tier {
  std::string name;
  double megabytes_per_s = 0;
  std::string model;                       // elsewhere; empty: where it is
  std::optional<lab::ReadLimit> slowdown;  // of servers that read it where it is
};

Result<Tier> tier_of(LabBench& bench, const std::string& text) {
  const std::string& model = bench.models().front();
  if (text.find('/') == std::string::npos) {
    auto speed = lab::storage_tier(text);
    if (!speed) return Failed{speed.error()};
    auto limit = lab::ReadLimit::make(model, speed->megabytes_per_s, &bench.journal());
    if (!limit) return Failed{limit.error()};
    return Tier{speed->name, speed->megabytes_per_s, {}, std::move(*limit)};
  }
  std::error_code failed;
  const std::string path = std::filesystem::canonical(text, failed).string();
  if (failed) return fail(ErrorCode::kNotFound, text + ": " + failed.message());
  const double rate = bench.machine().fastest_read(path).value_or(0) / 1e6;
  return Tier{std::filesystem::path{path}.parent_path().string(), rate, path, std::nullopt};
}

Result<> measure_tier(LabBench& bench, const std::string& text) {
  auto tier = tier_of(bench, text);
  if (!tier) {
    bench.leave_out("storage " + text, tier.error().message());
    return {};
  }
  SideChanges changes{.model = tier->model,
                      .folder = "tier-" + std::to_string(static_cast<int>(tier->megabytes_per_s)),
                      .within = {},
                      .configuration = {},
                      .name = {},
                      .addresses = SideChanges::Addresses::kLeaveOut};
  if (tier->slowdown) changes.within = tier->slowdown->within();
  auto sides = bench.start(changes);
  if (!sides) return Failed{sides.error()};
  lab::Arm arm = lab::storage_arm(tier->name, tier->megabytes_per_s);
  // So that each row is looked at, whether the limit held.
  if (tier->slowdown) arm.extra["read_limit_mb_s"] = tier->megabytes_per_s;
  const lab::Study study{.name = "ablate", .arms = {std::move(arm)}};
  bench.describe(study.arms, *sides);
  const LabBench::Work work = bench.work_with(*sides);
  work.driver->run(study, bench.options().blocks(), bench.options().seed, lab::Meanwhile::kNothing);
  return {};
}

std::string additivity_text(const std::vector<lab::Trial>& rows, const OutputStyle& style) {
  std::string text;
  for (const lab::Additivity& side : lab::additivity(rows)) {
    text += "\n" + sentence_line(lab::sentence_of(side), 2, style);
  }
  return text;
}

Result<std::string> ablate(LabBench& bench) {
  const LabOptions& options = bench.options();
  const lab::Study all = lab::ablations(options.preset());
  if (const Result<> good = check_only(options.only, {all}); !good) return Failed{good.error()};
  const lab::Study study = lab::only(all, options.only);
  {
    auto sides = bench.start({});
    if (!sides) return Failed{sides.error()};
    if (const Result<> more = add_without(bench, *sides); !more) return Failed{more.error()};
    bench.describe(study.arms, *sides);
    const LabBench::Work work = bench.work_with(*sides);
    work.driver->run(study, options.blocks(), options.seed, lab::Meanwhile::kNothing);
  }
  for (const std::string& tier : options.tiers) {
    if (LabBench::interrupted()) break;
    const Result<> measured = measure_tier(bench, tier);
    if (measured || LabBench::interrupted()) continue;
    bench.leave_out("storage " + tier, measured.error().message());
  }
  return additivity_text(bench.rows().rows(), style_of(1));
}

}  // namespace

void add_lab_ablate(CLI::App& lab, const CLI::App& app) {
  const StudyVerb added = add_study(
      lab, app, "ablate", "One layer at a time: lost while all else is warm, warm alone", ablate);
  added.verb
      ->add_option("--tier", added.options->tiers,
                   "Page-cold starts from slower storage as well: hdd, usb, sata or MB/s (a limit "
                   "on this device; takes root), or a copy of the model on another device; may be "
                   "given again")
      ->allow_extra_args(false)
      ->type_name("TIER");
  added.verb
      ->add_option("--without", added.options->without,
                   "One more side: Hearth with this layer switched off; may be given again")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"compiled", "pages"}));
  added.verb->footer(example("hearth lab ablate --model smollm2.gguf --tier hdd --quick"));
}

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/lab.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "cli/lab_household.h"
#include "cli/lab_report.h"
#include "cli/lab_studies.h"
#include "cli/program.h"
#include "cli/quantity.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "lab/policy_report.h"
#include "policy/household/league.h"

namespace hearth::cli {
namespace {

struct PolicyOptions {
  std::string trace;
  std::string ram = "12GB";
  std::uint64_t seed = 1;
  int days = 14;
  std::string plot;
  bool json = false;
};

int refuse(const std::string& why) {
  std::cerr << "hearth lab policy: " << why << '\n';
  return kExitUsage;
}

int policy(const PolicyOptions& options) {
  const Result<Bytes> ram = parse_size(options.ram);
  if (!ram || *ram == Bytes{}) return refuse("--ram: a size, such as 12GB");
  const Result<household::Trace> trace = household_from(options.trace, options.seed, options.days);
  if (!trace) return refuse(trace.error().message());
  household::Machine machine;
  machine.memory = *ram;
  const lab::PolicyScores scores = household::play_all(*trace, machine);
  if (!options.plot.empty()) {
    const std::string title =
        fmt::format("Seconds waited for cold models, {} of memory", options.ram);
    std::ofstream picture{options.plot, std::ios::binary};
    picture << lab::policy_picture(scores, title);
    if (!picture.flush()) return refuse(options.plot + " cannot be written");
  }
  print(options.json ? lab::policy_json(scores) + "\n" : lab::policy_table(scores));
  return kExitOk;
}

void add_policy(CLI::App& lab) {
  CLI::App* played = lab.add_subcommand(
      "policy", "What a household waits for under different rules of keeping models");
  // Owned by the callback below, which lives as long as `app`.
  auto options = std::make_shared<PolicyOptions>();
  played
      ->add_option("--trace", options->trace,
                   "A file of seconds,model,size_gb,service_s; without it a household is made up")
      ->type_name("FILE");
  played->add_option("--ram", options->ram, "Memory for models")->capture_default_str();
  played->add_option("--seed", options->seed, "Of the household that is made up")
      ->capture_default_str();
  played->add_option("--days", options->days, "That it lives")
      ->check(CLI::Range(1, 366))
      ->capture_default_str();
  played->add_option("--plot", options->plot, "Draws a picture (SVG) into this file")
      ->type_name("FILE");
  played->add_flag("--json", options->json, "An array of objects instead of a table");
  played->footer(example("hearth lab policy --ram 12GB"));
  played->callback([options] { throw CLI::RuntimeError{policy(*options)}; });
}

}  // namespace

void add_lab(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("lab", "Experiments that show what caching does");
  verb->require_subcommand(1);
  verb->footer(example("hearth lab classes --model smollm2.gguf --quick"));
  add_lab_classes(*verb, app);
  add_lab_idle(*verb, app);
  add_lab_ablate(*verb, app);
  add_lab_mix(*verb, app);
  add_policy(*verb);
  add_lab_report(*verb);
  add_lab_undo(*verb);
}

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/lab_studies.h"
#include "cli/lab_verb.h"
#include "cli/program.h"
#include "lab/studies/classes.h"

namespace hearth::cli {
namespace {

Result<std::string> classes(LabBench& bench) {
  const LabOptions& options = bench.options();
  const lab::Study all = lab::response_classes(options.preset());
  if (const Result<> good = check_only(options.only, {all}); !good) return Failed{good.error()};
  const lab::Study study = lab::only(all, options.only);
  auto sides = bench.start({});
  if (!sides) return Failed{sides.error()};
  bench.describe(study.arms, *sides);
  const LabBench::Work work = bench.work_with(*sides);
  work.driver->run(study, options.blocks(), options.seed, lab::Meanwhile::kNothing);
  return std::string{};
}

}  // namespace

void add_lab_classes(CLI::App& lab, const CLI::App& app) {
  const StudyVerb added = add_study(
      lab, app, "classes",
      "One fixed request in each state of the caches, from after a reboot to asked twice", classes);
  added.verb->footer(
      example("hearth lab classes --model smollm2.gguf --against llama-server --quick"));
}

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_verb.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/session.h"

namespace hearth::cli {
namespace {

std::string value_of(const CLI::App& app, const std::string& option) {
  const CLI::Option* found = app.get_option_no_throw(option);
  return found == nullptr || found->count() == 0 ? std::string{} : found->as<std::string>();
}

int run(const std::string& study, const LabOptions& options, const StudyWork& work) {
  auto bench = LabBench::open(study, options);
  if (!bench) {
    const int code = report(bench.error());
    return bench.error().code() == ErrorCode::kInvalid ? kExitUsage : code;
  }
  const Result<std::string> more = work(**bench);
  if (more) return (*bench)->report(*more);
  const bool is_cancelled = more.error().code() == ErrorCode::kCancelled;
  // What was measured is worth more than what went wrong then.
  if (!is_cancelled) (*bench)->add_problem(more.error());
  if (!(*bench)->rows().rows().empty()) return (*bench)->report({});
  if (is_cancelled) return kExitInterrupted;
  const int code = report(more.error());
  return more.error().code() == ErrorCode::kInvalid ? kExitUsage : code;
}

}  // namespace

StudyVerb add_study(CLI::App& lab, const CLI::App& app, const std::string& study,
                    const std::string& help, StudyWork work) {
  CLI::App* verb = lab.add_subcommand(study, help);
  // Owned by the callback, which lives as long as `app`.
  auto options = std::make_shared<LabOptions>();
  add_study_options(*verb, *options);
  verb->callback([&app, study, options, work = std::move(work)] {
    options->host = value_of(app, "--host");
    options->key = value_of(app, "--key");
    throw CLI::RuntimeError{run(study, *options, work)};
  });
  return {verb, options};
}

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_report.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "base/files.h"
#include "cli/program.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "lab/report/compare.h"
#include "lab/report/report.h"
#include "lab/report/terminal.h"
#include "lab/run_directory.h"

namespace hearth::cli {
namespace {

struct ReportOptions {
  std::string directory;
  bool json = false;
};

struct CompareOptions {
  std::string before, after;
  bool json = false;
};

lab::TextLook look_of(const OutputStyle& style) {
  return {style.terminal, style.width, style.unicode, style.colour};
}

int report_run(const ReportOptions& options) {
  Result<lab::RunDirectory> run = lab::RunDirectory::open(Files::real(), options.directory);
  if (!run) return report(run.error());
  const Result<lab::Summary> summary = lab::write_report(*run);
  if (!summary) return report(summary.error());
  if (options.json) {
    print(lab::to_json(run->info(), *summary));
    return kExitOk;
  }
  print(lab::terminal_text(run->info(), *summary, look_of(style_of(1))));
  if (style_of(2).terminal) std::cerr << "wrote " << run->path() << "/report.html\n";
  return kExitOk;
}

// Of `lab compare`, so that a script can tell them apart.
constexpr int kExitSlower = 1;
constexpr int kExitNotCompared = 2;  // a run cannot be read, or the two have nothing in common

int not_compared(const Error& error) {
  (void)report(error);
  return kExitNotCompared;
}

int compare_runs(const CompareOptions& options) {
  const auto before = lab::RunDirectory::open(Files::real(), options.before);
  if (!before) return not_compared(before.error());
  const auto after = lab::RunDirectory::open(Files::real(), options.after);
  if (!after) return not_compared(after.error());
  const lab::Comparison comparison =
      lab::compare(before->info(), before->rows(), after->info(), after->rows());
  print(options.json ? lab::to_json(comparison) + "\n"
                     : lab::terminal_text(comparison, look_of(style_of(1))));
  if (comparison.changes.empty()) return kExitNotCompared;
  return comparison.regressed() ? kExitSlower : kExitOk;
}

}  // namespace

void add_lab_report(CLI::App& lab) {
  CLI::App* reported = lab.add_subcommand(
      "report", "Make the report of a run again: report.html, rows.csv and summary.json");
  // Both sets of options are owned by their callbacks, which live as long as `lab`.
  auto report_options = std::make_shared<ReportOptions>();
  reported->add_option("RUN", report_options->directory, "The directory of the run")
      ->required()
      ->type_name("DIR");
  reported->add_flag("--json", report_options->json, "The summary as JSON instead of text");
  reported->footer(
      example("hearth lab report ~/.local/share/hearth/reports/classes-20261130-182631"));
  reported->callback([report_options] { throw CLI::RuntimeError{report_run(*report_options)}; });

  CLI::App* compared = lab.add_subcommand(
      "compare",
      "What became slower or faster between two runs; exit code 1: something became slower, "
      "2: they cannot be compared");
  auto compare_options = std::make_shared<CompareOptions>();
  compared->add_option("BEFORE", compare_options->before, "The directory of the first run")
      ->required()
      ->type_name("DIR");
  compared->add_option("AFTER", compare_options->after, "The directory of the second run")
      ->required()
      ->type_name("DIR");
  compared->add_flag("--json", compare_options->json, "An object instead of a table");
  compared->footer(example("hearth lab compare before/ after/"));
  compared->callback(
      [compare_options] { throw CLI::RuntimeError{compare_runs(*compare_options)}; });
}

}  // namespace hearth::cli

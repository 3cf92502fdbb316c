// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/lab_studies.h"
#include "cli/program.h"
#include "cli/session.h"
#include "lab/machine/journal.h"

namespace hearth::cli {
namespace {

int undo() {
  const auto done = lab::Journal::put_back_stale(Files::real(), lab::Journal::usual_directory());
  for (const std::string& line : done) print(line + "\n");
  if (done.empty()) print("No experiment left anything behind.\n");
  return kExitOk;
}

}  // namespace

void add_lab_undo(CLI::App& lab) {
  CLI::App* verb = lab.add_subcommand(
      "undo", "Put back what an experiment changed that was ended before it could");
  verb->footer(example("hearth lab undo"));
  verb->callback([] { throw CLI::RuntimeError{undo()}; });
}

}  // namespace hearth::cli

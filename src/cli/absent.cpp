// SPDX-License-Identifier: Apache-2.0
#include "cli/absent.h"

#include <CLI/CLI.hpp>

#include "cli/session.h"

namespace hearth::cli {
namespace {

struct Absent {
  const char* verb;
  const char* instead;
};

constexpr Absent kAbsent[] = {
    {"push",
     "Hearth publishes nothing; copy the model's file, `hearth show MODEL` says where it is"},
    {"signin", "there is no account to sign in to; everything stays on your machines"},
    {"signout", "there is no account to sign out of; everything stays on your machines"},
};

}  // namespace

void add_absent(CLI::App& app) {
  for (const Absent& absent : kAbsent) {
    app.add_subcommand(absent.verb, absent.instead)
        ->group("")
        ->fallthrough(false)
        ->prefix_command()
        ->callback([instead = absent.instead] {
          throw CLI::RuntimeError{report(Error{ErrorCode::kUnsupported, instead})};
        });
  }
}

}  // namespace hearth::cli

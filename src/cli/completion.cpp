// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/program.h"
#include "cli/session.h"

namespace hearth::cli {
namespace {

std::string script_for(const std::string& shell, const Command& root) {
  if (shell == "zsh") return zsh_completion(root);
  return shell == "fish" ? fish_completion(root) : bash_completion(root);
}

}  // namespace

void add_completion(CLI::App& app) {
  // Owned by the callback below, which lives as long as `app`.
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "A script that makes your shell complete this");
  verb->add_option("SHELL", *shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->footer(example("source <(hearth completion bash)"));
  verb->callback([&app, shell] {
    print(script_for(*shell, command_tree(app)));
    throw CLI::RuntimeError{kExitOk};
  });
}

}  // namespace hearth::cli

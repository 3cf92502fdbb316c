// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hearth::cli {

// What may stand in one place of the command line.
struct ValueKind {
  enum class Of { kAnything, kWords, kModels, kFiles, kDirectories };
  Of of = Of::kAnything;
  std::vector<std::string> words{};  // of kWords
  std::string name{};                // "MODEL", for people

  friend bool operator==(const ValueKind&, const ValueKind&) = default;
};

struct CommandOption {
  std::vector<std::string> names;  // with their dashes: "-a", "--all"
  std::string help;
  std::optional<ValueKind> value;  // none for a flag
};

struct CommandPlace {
  ValueKind value;
  std::string help;
  bool repeats = false;
};

// The command line as completion sees it: verbs with their options and arguments, without what is
// hidden.
struct Command {
  std::string path;                // "", "list", "keys add"
  std::vector<std::string> names;  // of the last word; aliases after the name proper
  std::string help;
  std::vector<CommandOption> options;
  std::vector<CommandPlace> places;  // the arguments that have no option's name, in order
  std::vector<Command> verbs;

  // This one and all below it.
  std::vector<const Command*> all() const;
};

// Kinds are read from the options themselves: allowed words from a CLI::IsMember, files and
// directories from the type names FILE and DIR, models and verbs from the names MODEL, SOURCE and
// VERB.
Command command_tree(const CLI::App& app);

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace hearth::cli {
namespace {

bool is_shown(const CLI::App* app) { return !app->get_group().empty(); }
bool is_shown(const CLI::Option* option) { return !option->get_group().empty(); }

std::vector<const CLI::App*> shown_verbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return is_shown(verb); });
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return parts;
}

// What a set of allowed words looks like in a type's name: "TEXT:{weights,pages}".
std::vector<std::string> words_in(std::string_view type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return split(type.substr(open + 1, close - open - 1), ',');
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : shown_verbs(app)) names.push_back(verb->get_name());
  return names;
}

ValueKind kind_of(const CLI::Option& option, const CLI::App& root) {
  const std::string type = option.get_type_name();
  const std::string place = option.get_name(true);
  ValueKind kind;
  kind.name = option.get_positional() ? place : split(type, ':').front();
  kind.words = words_in(type);
  if (!kind.words.empty()) {
    kind.of = ValueKind::Of::kWords;
    kind.name = "one of";
  } else if (place == "VERB") {
    kind.of = ValueKind::Of::kWords;
    kind.words = names_of(root);
  } else if (place == "MODEL" || place == "SOURCE") {
    kind.of = ValueKind::Of::kModels;
  } else if (type.find("FILE") != std::string::npos) {
    kind.of = ValueKind::Of::kFiles;
  } else if (type.find("DIR") != std::string::npos) {
    kind.of = ValueKind::Of::kDirectories;
  }
  return kind;
}

void add_option(Command& command, const CLI::Option& option, const CLI::App& root) {
  const bool is_flag = option.get_items_expected_max() == 0;
  if (option.get_positional()) {
    const bool repeats = option.get_items_expected_max() > 1;
    command.places.push_back({kind_of(option, root), option.get_description(), repeats});
    return;
  }
  CommandOption added{{}, option.get_description(), std::nullopt};
  for (const std::string& name : option.get_snames()) added.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) added.names.push_back("--" + name);
  if (!is_flag) added.value = kind_of(option, root);
  command.options.push_back(std::move(added));
}

// What a verb leaves to the one above it; the root's options are known to be everywhere.
void inherit_options(Command& command, const Command& above) {
  for (const CommandOption& option : above.options) {
    const bool is_help = std::ranges::find(option.names, "--help") != option.names.end();
    if (!is_help) command.options.push_back(option);
  }
}

Command command_of(const CLI::App& app, const std::string& path, const CLI::App& root) {
  Command command{path, {app.get_name()}, app.get_description(), {}, {}, {}};
  command.names.insert(command.names.end(), app.get_aliases().begin(), app.get_aliases().end());
  for (const CLI::Option* option : app.get_options()) {
    if (is_shown(option)) add_option(command, *option, root);
  }
  for (const CLI::App* verb : shown_verbs(app)) {
    const std::string below = path.empty() ? verb->get_name() : path + " " + verb->get_name();
    command.verbs.push_back(command_of(*verb, below, root));
    const bool inherits = !path.empty() && verb->get_fallthrough();
    if (inherits) inherit_options(command.verbs.back(), command);
  }
  return command;
}

void collect(const Command& command, std::vector<const Command*>& into) {
  into.push_back(&command);
  for (const Command& verb : command.verbs) collect(verb, into);
}

}  // namespace

std::vector<const Command*> Command::all() const {
  std::vector<const Command*> list;
  collect(*this, list);
  return list;
}

Command command_tree(const CLI::App& app) { return command_of(app, "", app); }

}  // namespace hearth::cli

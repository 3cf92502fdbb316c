// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/completion.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kBegin = R"zsh(#compdef hearth
# Completion of hearth for zsh. In ~/.zshrc, after compinit: source <(hearth completion zsh)

_hearth_models() {
  local -a names
  names=(${(f)"$(hearth list --names 2>/dev/null)"})
  compadd -a names
}
)zsh";

// Sourced, it registers itself; autoloaded, it is the function's body.
constexpr std::string_view kEnd = R"zsh(
if [[ $funcstack[1] == _hearth ]]; then
  _hearth "$@"
else
  compdef _hearth hearth
fi
)zsh";

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// For the parts of a specification, which colons and brackets would end.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action(const ValueKind& value) {
  switch (value.of) {
    case ValueKind::Of::kWords:
      return fmt::format("({})", fmt::join(value.words, " "));
    case ValueKind::Of::kModels:
      return "_hearth_models";
    case ValueKind::Of::kFiles:
      return "_files";
    case ValueKind::Of::kDirectories:
      return "_files -/";
    case ValueKind::Of::kAnything:
      break;
  }
  return " ";
}

std::string function_name(const Command& command) {
  std::string name = "_hearth";
  if (!command.path.empty()) name += "__" + command.path;
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::vector<std::string> option_specifications(const Command& command) {
  std::vector<std::string> list;
  for (const CommandOption& option : command.options) {
    for (const std::string& name : option.names) {
      std::string text = name;
      if (option.names.size() > 1) text = fmt::format("({}){}", fmt::join(option.names, " "), name);
      if (option.value) text += name.starts_with("--") ? "=" : "+";
      text += fmt::format("[{}]", escaped(option.help));
      if (option.value) {
        text += fmt::format(":{}:{}", escaped(option.value->name), action(*option.value));
      }
      list.push_back(in_quotes(text));
    }
  }
  return list;
}

std::vector<std::string> place_specifications(const Command& command) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < command.places.size(); ++i) {
    const CommandPlace& place = command.places[i];
    const std::string at = place.repeats ? "*" : std::to_string(i + 1);
    list.push_back(
        in_quotes(fmt::format("{}:{}:{}", at, escaped(place.value.name), action(place.value))));
  }
  return list;
}

std::string arguments_call(const Command& command, const Command& root) {
  std::vector<std::string> list = option_specifications(command);
  if (&command != &root) {
    for (const CommandOption& option : root.options) {
      if (std::ranges::find(option.names, "--help") != option.names.end()) continue;
      for (auto& text : option_specifications({"", {}, "", {option}, {}, {}})) {
        list.push_back(std::move(text));
      }
    }
  }
  if (command.verbs.empty()) {
    for (auto& text : place_specifications(command)) list.push_back(std::move(text));
  } else {
    list.push_back(in_quotes(fmt::format("1:verb:{}_verbs", function_name(command))));
    list.push_back("'*::argument:->argument'");
  }
  return fmt::format("  _arguments -C -s \\\n    {}", fmt::join(list, " \\\n    "));
}

std::string verbs_function(const Command& command) {
  std::string lines;
  for (const Command& verb : command.verbs) {
    for (const std::string& name : verb.names) {
      lines += "    " + in_quotes(escaped(name) + ":" + escaped(verb.help)) + "\n";
    }
  }
  return fmt::format(
      "\n{}_verbs() {{\n  local -a verbs\n  verbs=(\n{}  )\n  _describe verb verbs\n}}\n",
      function_name(command), lines);
}

std::string function_of(const Command& command, const Command& root) {
  std::string text = fmt::format(
      "\n{}() {{\n  local curcontext=\"$curcontext\" state line\n  local -A opt_args\n{}",
      function_name(command), arguments_call(command, root));
  if (command.verbs.empty()) return text + "\n}\n";
  text += " && return\n  [[ $state == argument ]] || return\n  case $words[1] in\n";
  for (const Command& verb : command.verbs) {
    text += fmt::format("    ({}) {} ;;\n", fmt::join(verb.names, "|"), function_name(verb));
  }
  return text + "  esac\n}\n" + verbs_function(command);
}

}  // namespace

std::string zsh_completion(const Command& root) {
  std::string script{kBegin};
  for (const Command* command : root.all()) script += function_of(*command, root);
  return script + std::string{kEnd};
}

}  // namespace hearth::cli

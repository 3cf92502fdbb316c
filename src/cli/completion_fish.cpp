// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace hearth::cli {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// __hearth_at PATH PLACE: whether the cursor is behind this verb, and at which of its arguments.
constexpr std::string_view kBegin = R"fish(# Completion of hearth for fish.
# Into ~/.config/fish/completions/hearth.fish: hearth completion fish

function __hearth_models
    hearth list --names 2>/dev/null
end

function __hearth_place
    set -l path ''
    set -l place 0
    set -l value 0
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test $value = 1
            set value 0
            continue
        end
        switch $word
            case '-*=*'
            case '-*'
                switch "$path/$word"
                    case {}
                        set value 1
                end
            case '*'
                switch "$path/$word"
{}                    case '*'
                        set place (math $place + 1)
                end
        end
    end
    echo "$path/$place"
end

function __hearth_at
    string match -q -- "$argv[1]/$argv[2]" (__hearth_place)
end

complete -c hearth -f
)fish";

std::string verb_cases(const Command& root) {
  std::string cases;
  for (const Command* command : root.all()) {
    for (const Command& verb : command->verbs) {
      cases += "                    case";
      for (const std::string& name : verb.names)
        cases += " " + in_quotes(command->path + "/" + name);
      cases += fmt::format("\n                        set path {}\n", in_quotes(verb.path));
    }
  }
  return cases;
}

std::string value_cases(const Command& root) {
  std::vector<std::string> cases;
  for (const Command* command : root.all()) {
    for (const CommandOption& option : command->options) {
      if (!option.value) continue;
      for (const std::string& name : option.names) {
        cases.push_back(in_quotes((command->path.empty() ? "*" : command->path) + "/" + name));
      }
    }
  }
  return fmt::format("{}", fmt::join(cases, " "));
}

// The arguments of `complete` that say what may follow.
std::string candidates(const ValueKind& value) {
  switch (value.of) {
    case ValueKind::Of::kWords:
      return " -a " + in_quotes(fmt::format("{}", fmt::join(value.words, " ")));
    case ValueKind::Of::kModels:
      return " -a '(__hearth_models)'";
    case ValueKind::Of::kFiles:
      return " -F";
    case ValueKind::Of::kDirectories:
      return " -a '(__fish_complete_directories)'";
    case ValueKind::Of::kAnything:
      break;
  }
  return "";
}

std::string condition(const Command& command, std::string_view place) {
  return fmt::format(" -n {}", in_quotes(fmt::format("__hearth_at {} {}", in_quotes(command.path),
                                                     in_quotes(place))));
}

std::string option_line(const Command& command, const CommandOption& option) {
  std::string line = "complete -c hearth";
  if (!command.path.empty()) line += condition(command, "*");
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.value) {
    const bool has_files = option.value->of == ValueKind::Of::kFiles;
    line += (has_files ? " -r" : " -x") + candidates(*option.value);
  }
  return line + " -d " + in_quotes(option.help) + "\n";
}

std::string lines_of(const Command& command) {
  std::string lines;
  for (const Command& verb : command.verbs) {
    for (const std::string& name : verb.names) {
      lines += fmt::format("complete -c hearth{} -a {} -d {}\n", condition(command, "0"), name,
                           in_quotes(verb.help));
    }
  }
  for (const CommandOption& option : command.options) lines += option_line(command, option);
  for (std::size_t i = 0; i < command.places.size(); ++i) {
    const CommandPlace& place = command.places[i];
    const std::string offered = candidates(place.value);
    if (offered.empty()) continue;
    lines += fmt::format("complete -c hearth{}{}\n",
                         condition(command, place.repeats ? "*" : std::to_string(i)), offered);
  }
  return lines;
}

}  // namespace

std::string fish_completion(const Command& root) {
  std::string script = fmt::format(kBegin, value_cases(root), verb_cases(root));
  for (const Command* command : root.all()) script += lines_of(*command);
  return script;
}

}  // namespace hearth::cli

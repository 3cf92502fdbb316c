// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/completion.h"

namespace hearth::cli {
namespace {

// What the tables below say is walked here. The line is split at spaces instead of taking
// COMP_WORDS, which bash also splits at the colon of a model's name. Names come from a server, so
// they are neither expanded (as compgen -W would) nor taken when a shell could misread them.
constexpr std::string_view kWalk = R"bash(
__hearth_models() {
  local name
  while IFS= read -r name; do
    case $name in
      *[!A-Za-z0-9._/:@+-]*) ;;
      "$2"*) COMPREPLY+=("$name") ;;
    esac
  done < <("${1/#\~/$HOME}" list --names 2>/dev/null)
}

_hearth() {
  local line="${COMP_LINE:0:COMP_POINT}" cur='' path='' option='' kind='' words='' place=0 word
  local -a typed
  read -ra typed <<< "$line"
  if [[ $line != *[[:space:]] ]]; then
    cur="${typed[${#typed[@]}-1]}"
    unset "typed[${#typed[@]}-1]"
  fi
  for word in "${typed[@]:1}"; do
    if [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      if __hearth_option "$path" "$word"; then option=$word; fi
    elif ! __hearth_verb "$path" "$word"; then
      place=$((place + 1))
    fi
  done
  if [[ $cur == --*=* ]]; then
    option="${cur%%=*}"
    cur="${cur#*=}"
  fi
  COMPREPLY=() kind='' words=''
  if [[ -n $option ]]; then
    __hearth_option "$path" "$option"
  elif [[ $cur == -* ]]; then
    __hearth_options "$path"
  else
    __hearth_place "$path" "$place"
  fi
  case $kind in
    words) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    models) __hearth_models "$1" "$cur" ;;
    files | directories)
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done \
        < <(compgen "$([[ $kind == files ]] && echo -f || echo -d)" -- "$cur") ;;
  esac
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
  fi
}

complete -F _hearth hearth
)bash";

std::string kind_assignments(const ValueKind& value) {
  switch (value.of) {
    case ValueKind::Of::kWords:
      return fmt::format("kind=words words='{}'", fmt::join(value.words, " "));
    case ValueKind::Of::kModels:
      return "kind=models";
    case ValueKind::Of::kFiles:
      return "kind=files";
    case ValueKind::Of::kDirectories:
      return "kind=directories";
    case ValueKind::Of::kAnything:
      break;
  }
  return "kind=''";
}

std::string function_of(std::string_view name, std::string_view subject, const std::string& cases) {
  return fmt::format("\n{}() {{\n  case \"{}\" in\n{}    *) return 1 ;;\n  esac\n}}\n", name,
                     subject, cases);
}

std::string verb_cases(const Command& command) {
  std::string cases;
  for (const Command& verb : command.verbs) {
    for (const std::string& name : verb.names) {
      cases += fmt::format("    '{}/{}') path='{}' ;;\n", command.path, name, verb.path);
    }
  }
  return cases;
}

// Options of the root work behind every verb.
std::string option_cases(const Command& command) {
  std::string cases;
  for (const CommandOption& option : command.options) {
    if (!option.value) continue;
    for (const std::string& name : option.names) {
      const std::string at = command.path.empty() ? "*" : "'" + command.path + "'";
      cases += fmt::format("    {}/{}) {} ;;\n", at, name, kind_assignments(*option.value));
    }
  }
  return cases;
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const CommandOption& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// Its own and the root's; both have --help.
std::string option_list(const Command& command, const Command& root) {
  std::vector<std::string> names = option_names(command);
  for (const std::string& name : option_names(root)) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("    '{}') kind=words words='{}' ;;\n", command.path, fmt::join(names, " "));
}

std::string place_cases(const Command& command) {
  std::string cases;
  if (!command.verbs.empty()) {
    std::vector<std::string> names;
    for (const Command& verb : command.verbs) {
      names.insert(names.end(), verb.names.begin(), verb.names.end());
    }
    cases +=
        fmt::format("    '{}/0') kind=words words='{}' ;;\n", command.path, fmt::join(names, " "));
  }
  for (std::size_t i = 0; i < command.places.size(); ++i) {
    const CommandPlace& place = command.places[i];
    const std::string index = place.repeats ? "'*" : fmt::format("{}'", i);
    cases += fmt::format("    '{}/{}) {} ;;\n", command.path, index, kind_assignments(place.value));
  }
  return cases;
}

}  // namespace

std::string bash_completion(const Command& root) {
  std::string verbs, options, lists, places;
  for (const Command* command : root.all()) {
    verbs += verb_cases(*command);
    options += option_cases(*command);
    lists += option_list(*command, root);
    places += place_cases(*command);
  }
  return "# Completion of hearth for bash. In ~/.bashrc: source <(hearth completion bash)\n" +
         function_of("__hearth_verb", "$1/$2", verbs) +
         function_of("__hearth_option", "$1/$2", options) +
         function_of("__hearth_options", "$1", lists) +
         function_of("__hearth_place", "$1/$2", places) + std::string{kWalk};
}

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/modules.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/answer.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

namespace json = boost::json;

constexpr const char* kTarget = "/api/hearth/modules";

struct ModulesOptions {
  std::string name, file;
  std::vector<std::string> models;
};

std::string target_of(const std::string& name) {
  return fmt::format("{}/{}", kTarget, percent_encode(name));
}

std::string tokens_of(const json::object& model) {
  const auto tokens = number_in(model, "tokens");
  return tokens ? format_grouped(static_cast<std::uint64_t>(*tokens)) : "-";
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

void add_rows(Table& table, const json::object& module) {
  const bool broken = !text_in(module, "broken").empty();
  const std::string name = text_in(module, "name");
  const std::string version = broken ? "broken" : text_in(module, "version");
  const auto bytes = static_cast<std::uint64_t>(integer_in(module, "bytes"));
  const std::string size = format_bytes(Bytes{bytes});
  const std::string source = text_in(module, "source");
  const json::array* models = array_in(module, "models");
  if (models == nullptr || models->empty()) table.add({name, version, size, source, "-", "-", "-"});
  if (models == nullptr) return;
  for (const json::value& value : *models) {
    if (!value.is_object()) continue;
    const json::object& model = value.get_object();
    table.add({name, version, size, source, text_in(model, "model"), tokens_of(model),
               or_dash(text_in(model, "level"))});
  }
}

Result<std::string> text_of(const std::string& file) {
  if (file == "-") {
    return std::string{std::istreambuf_iterator<char>{std::cin}, std::istreambuf_iterator<char>{}};
  }
  std::ifstream in{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
  if (!in && !in.eof()) return fail(ErrorCode::kNotFound, file + ": it cannot be read");
  return text;
}

int list_modules(const Session& session, const ModulesOptions&) {
  const auto answer = session.api.get(kTarget);
  if (session.json()) return print_json(answer);
  const auto whole = object_of(answer);
  if (!whole) return report(whole.error());
  const json::array* modules = array_in(*whole, "modules");
  if (modules != nullptr && !modules->empty()) {
    print(modules_table(*modules, session.out));
  } else if (session.out.terminal) {
    print("No modules; make one with `hearth modules set NAME --file FILE`\n");
  }
  return kExitOk;
}

int show_module(const Session& session, const ModulesOptions& options) {
  const auto answer = session.api.get(target_of(options.name));
  if (session.json()) return print_json(answer);
  const auto module = object_of(answer);
  if (!module) return report(module.error());
  const std::string broken = text_in(*module, "broken");
  if (!broken.empty()) return report(Error{ErrorCode::kUnavailable, broken});
  if (session.out.terminal) print(modules_table(json::array{*module}, session.out) + "\n");
  const std::string text = text_in(*module, "text");
  print(text.ends_with('\n') ? text : text + "\n");
  return kExitOk;
}

int set_module(const Session& session, const ModulesOptions& options) {
  const auto text = text_of(options.file);
  if (!text) return report(text.error());
  const json::object body{{"text", *text}, {"models", json::value_from(options.models)}};
  const auto answer = session.api.put(target_of(options.name), json::serialize(body));
  if (session.json()) return print_json(answer);
  const auto module = object_of(answer);
  if (!module) return report(module.error());
  print(fmt::format("{} is at version {}\n", options.name, text_in(*module, "version")));
  return kExitOk;
}

int remove_module(const Session& session, const ModulesOptions& options) {
  const auto answer = session.api.remove(target_of(options.name));
  if (session.json()) return print_json(answer);
  const auto removed = object_of(answer);
  if (!removed) return report(removed.error());
  print("removed the module " + options.name + "\n");
  return kExitOk;
}

}  // namespace

std::string modules_table(const json::array& modules, const OutputStyle& style) {
  Table table{{{"NAME"},
               {"VERSION", Align::kLeft, 2},
               {"SIZE", Align::kRight, 3},
               {"FROM", Align::kLeft, 1},
               {"MODEL"},
               {"TOKENS", Align::kRight},
               {"LEVEL"}}};
  for (const json::value& module : modules) {
    if (module.is_object()) add_rows(table, module.get_object());
  }
  return table.render(style);
}

void add_modules(Program& program) {
  // Both live as long as the callbacks that own them.
  auto options = std::make_shared<ModulesOptions>();
  auto action = std::make_shared<int (*)(const Session&, const ModulesOptions&)>(list_modules);
  auto* modules = program.verb("modules", "Texts with a name, which requests begin with",
                               [options, action](Session& s) { return (*action)(s, *options); });
  modules->require_subcommand(0, 1);
  modules->fallthrough();
  modules->footer(example("hearth modules set house --file rules.txt --model smollm2"));
  modules->add_subcommand("list", "All modules, and how warm they are")->alias("ls");
  auto* show = modules->add_subcommand("show", "One module, with its text");
  show->add_option("NAME", options->name, "Which module")->required();
  show->callback([action] { *action = show_module; });
  auto* set = modules->add_subcommand("set", "Make a module, or change it");
  set->add_option("NAME", options->name, "What requests call it")->required();
  set->add_option("--file,-f", options->file, "Its text; - for standard input")
      ->required()
      ->type_name("FILE");
  set->add_option("--model", options->models, "Keep it warm for this model; may be repeated")
      ->allow_extra_args(false);
  set->callback([action] { *action = set_module; });
  auto* remove = modules->add_subcommand("rm", "Forget a module");
  remove->add_option("NAME", options->name, "Which module")->required();
  remove->callback([action] { *action = remove_module; });
}

}  // namespace hearth::cli

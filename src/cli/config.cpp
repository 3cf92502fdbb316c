// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/answer.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/table.h"
#include "front/config.h"
#include "front/config/describe.h"

namespace hearth::cli {
namespace {

namespace json = boost::json;

void add_row(Table& table, const std::string& name, const json::object& option) {
  const json::value* value = option.if_contains("value");
  table.add({name, value == nullptr ? "" : json::serialize(*value),
             text_in(option, "source") == "default" ? "default" : text_in(option, "origin")});
}

// Sections that are set as a whole, so that all of their keys have one origin.
void add_sections(Table& table, const json::object& config, std::string_view kind) {
  const auto* sections = object_in(config, kind);
  if (sections == nullptr) return;
  for (const auto& section : *sections) {
    if (!section.value().is_object()) continue;
    const json::object& keys = section.value().get_object();
    for (const auto& key : keys) {
      if (key.key() == "origin") continue;
      const std::string name =
          fmt::format("{}.\"{}\".{}", kind, std::string{section.key()}, std::string{key.key()});
      table.add({name, json::serialize(key.value()), text_in(keys, "origin")});
    }
  }
}

std::string options_table(const json::object& config, const OutputStyle& style) {
  Table table{{{"OPTION"}, {"VALUE"}, {"SET BY"}}};
  if (const auto* options = array_in(config, "options")) {
    for (const json::value& option : *options) {
      if (option.is_object())
        add_row(table, text_in(option.get_object(), "name"), option.get_object());
    }
  }
  if (const auto* models = object_in(config, "models")) {
    for (const auto& model : *models) {
      if (!model.value().is_object()) continue;
      for (const auto& option : model.value().get_object()) {
        const std::string name =
            fmt::format("models.\"{}\".{}", std::string{model.key()}, std::string{option.key()});
        if (option.value().is_object()) add_row(table, name, option.value().get_object());
      }
    }
  }
  add_sections(table, config, "modules");
  add_sections(table, config, "protected");
  return table.render(style);
}

int show_config(const Session& session) {
  const auto answer = session.api.get("/api/hearth/config");
  if (session.json()) return print_json(answer);
  const auto config = object_of(answer);
  if (!config) return report(config.error());
  print(options_table(*config, session.out));
  return kExitOk;
}

std::string names_in(const json::object& answer, std::string_view list) {
  std::string names;
  if (const auto* array = array_in(answer, list)) {
    for (const json::value& name : *array) {
      if (name.is_string()) names += (names.empty() ? "" : ", ") + std::string{name.get_string()};
    }
  }
  return names;
}

int reload_config(const Session& session) {
  const auto answer = session.api.post("/api/hearth/config/reload", "{}");
  if (session.json()) return print_json(answer);
  const auto done = object_of(answer);
  if (!done) return report(done.error());
  const std::string changed = names_in(*done, "changed");
  const std::string waiting = names_in(*done, "needs_restart");
  if (!changed.empty()) print("changed: " + changed + "\n");
  if (!waiting.empty()) print("waits for the next start: " + waiting + "\n");
  if (changed.empty() && waiting.empty()) print("nothing has changed\n");
  return kExitOk;
}

std::string sentence_of(const front::Notice& notice) {
  switch (notice.kind) {
    case front::Notice::Kind::kFromOllama:
      return fmt::format("{} is used for {}", notice.variable, notice.option);
    case front::Notice::Kind::kOllamaInPart:
      return fmt::format("{} is not used as it is: {}", notice.variable, notice.reason);
    case front::Notice::Kind::kOllamaIgnored:
      return fmt::format("{} means nothing to Hearth", notice.variable);
    case front::Notice::Kind::kFromOtel:
      return fmt::format("{} is used for {}", notice.variable, notice.option);
    case front::Notice::Kind::kOtelIgnored:
      return fmt::format("{} is not used: {}", notice.variable, notice.reason);
    case front::Notice::Kind::kUnknownVariable:
      break;
  }
  return fmt::format("{} is no variable of Hearth; did you mean {}?", notice.variable,
                     notice.option);
}

int check_config(const std::string& file) {
  front::ConfigSources sources;
  sources.file = file;
  const auto config = front::load_config(sources);
  if (!config) {
    // As it is: each line begins with its place, as editors read it.
    fmt::print(stderr, "{}\n", config.error().message());
    return kExitUsage;
  }
  for (const front::Notice& notice : config->notices) print(sentence_of(notice) + "\n");
  print(config->file.empty() ? "there is no file; the environment is all right\n"
                             : config->file + ": all right\n");
  return kExitOk;
}

}  // namespace

void add_config(Program& program) {
  // Both live as long as the callbacks that own them.
  auto file = std::make_shared<std::string>();
  auto wants_reload = std::make_shared<bool>(false);
  auto* config =
      program.verb("config", "A server's options, and where each value comes from",
                   [wants_reload](Session& session) {
                     return *wants_reload ? reload_config(session) : show_config(session);
                   });
  config->footer(example("hearth config check ~/.config/hearth/hearth.toml"));
  auto* check = config->add_subcommand("check", "Look for mistakes, without a server");
  check->add_option("FILE", *file, "TOML; without it the one that `hearth serve` would read");
  check->callback([file] { throw CLI::RuntimeError{check_config(*file)}; });
  config->add_subcommand("reload", "Make the server read its configuration again")
      ->callback([wants_reload] { *wants_reload = true; });
  config->add_subcommand("docs", "Print docs/configuration.md")->group("")->callback([] {
    print(front::options_markdown());
    throw CLI::RuntimeError{kExitOk};
  });
}

}  // namespace hearth::cli

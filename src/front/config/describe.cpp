// SPDX-License-Identifier: Apache-2.0
#include "front/config/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "front/config/environment.h"
#include "front/config/value.h"
#include "timeline/json_writer.h"

namespace hearth::front {
namespace {

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kNameWidth = 29;

std::string default_of(const Option& option) {
  static const Config defaults;
  return json_of(value_in(defaults, option));
}

// With "***" in place of what is told to nobody.
Value shown_value(const Config& config, const Option& option) {
  Value value = value_in(config, option);
  if (option.shown == Option::Shown::kWhole) return value;
  for (std::string& item : std::get<Texts>(value)) item = item.substr(0, item.find('=')) + "=***";
  return value;
}

std::string without_backticks(std::string text) {
  std::erase(text, '`');
  return text;
}

// `text` in lines of kHelpWidth, all but the first indented.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > indent && column + 1 + word.size() > kHelpWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string joined(std::span<const std::string_view> words, std::string_view quote) {
  std::string out;
  for (const std::string_view word : words) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : ", ", quote, word, quote);
  }
  return out;
}

// "1 to 64", "debug, info", "" when anything goes.
std::string allowed(const Option& option, std::string_view quote) {
  if (!option.words.empty()) return joined(option.words, quote);
  if (std::holds_alternative<bool Config::*>(option.member)) {
    return fmt::format("{0}true{0}, {0}false{0}", quote);
  }
  if (option.most == 0) return "";
  return fmt::format("{} to {}", option.least, option.most);
}

std::string_view name_of(Effect effect) { return effect == Effect::kLive ? "live" : "restart"; }

std::string markdown_of(const Option& option) {
  std::string out = fmt::format("### {}\n\n{}\n\n", option.name, wrapped(option.help, 0));
  out += fmt::format("- default: `{}`", default_of(option));
  if (!option.unit.empty()) out += fmt::format(" ({})", option.unit);
  out += '\n';
  if (const std::string values = allowed(option, "`"); !values.empty()) {
    out += fmt::format("- allowed: {}\n", values);
  }
  out += fmt::format("- a change takes effect: {}\n",
                     option.effect == Effect::kLive ? "with a reload" : "with the next start");
  out += fmt::format("- environment: `{}`", variable_of(option.name));
  if (!option.ollama.variable.empty()) out += fmt::format(", else `{}`", option.ollama.variable);
  if (!option.otel.empty()) out += fmt::format(", else {}", option.otel);
  return out + "\n\n";
}

std::string markdown_of_models() {
  std::string out = "| key | meaning | a change takes effect |\n| --- | --- | --- |\n";
  for (const ModelOption& option : model_options()) {
    const std::string meaning =
        option.help.empty()
            ? fmt::format("as [{}](#{}) above, for this model", option.name, option.name)
            : std::string{option.help};
    out += fmt::format("| `{}` | {} | {} |\n", option.name, meaning,
                       option.effect == Effect::kLive ? "with a reload" : "with the next start");
  }
  return out;
}

constexpr std::string_view kIntroduction = R"(# Configuration

<!-- Made by `make docs` from the table that the program uses; changes belong there. -->

Nothing has to be configured. What can be is set in five places; later ones win:

1. the defaults below;
2. variables of Ollama (`OLLAMA_*`) that an option names as its stand-in. The log says at the start
   which ones were used (`config.from_ollama`), what in them could not be taken over
   (`config.ollama_in_part`), and which are set but mean nothing here (`config.ollama_ignored`);
3. a file in TOML: `--config FILE`, else `$HEARTH_CONFIG`, else the first that exists of
   `$XDG_CONFIG_HOME/hearth/hearth.toml` (by default `~/.config/hearth/hearth.toml`) and
   `/etc/hearth/hearth.toml`;
4. the environment: `HEARTH_` and the option's name in capitals; lists with commas;
5. the command line: `hearth serve --option NAME=VALUE` (or `-o`), and `--listen` and `--data`.

`hearth config` shows each value of a running server and where it came from. `hearth config check`
looks at a file without a server. An unknown name or a bad value refuses to start, with exit code
64; every error names its file, line and column, or its variable, and what was probably meant.

`hearth config reload`, or SIGHUP, reads everything again. When something is wrong, nothing changes
and the log says what (`config.not_reloaded`). Options that wait for the next start are named
(`config.needs_restart`).

```toml
keep_alive = "30m"
origins = ["https://chat.home.example"]

[models."qwen2.5:7b"]
aliases = ["gpt-4o-mini"]
context = 16384
keep_alive = -1
```

## Options

)";

constexpr std::string_view kModels = R"(## Models

A section `[models."NAME"]` is about one model; what it leaves out is the general option's. Names
with a dot or a colon want quotes. A name can be a section's or one alias, only once in all. A
section may speak of a model that is not there yet.

)";

std::string option_json(const Config& config, const Option& option) {
  JsonWriter json;
  json.string("name", option.name);
  json.raw("value", json_of(shown_value(config, option)));
  json.raw("default", default_of(option));
  const auto set = config.set_by.find(std::string{option.name});
  const Origin origin = set == config.set_by.end() ? Origin{} : set->second;
  json.string("source", name_of(origin.source)).string("origin", origin.place);
  json.string("help", option.help).string("takes_effect", name_of(option.effect));
  if (!option.unit.empty()) json.string("unit", option.unit);
  if (option.most > 0) json.integer("least", option.least).integer("most", option.most);
  if (!option.words.empty()) json.raw("words", "[" + joined(option.words, "\"") + "]");
  json.string("variable", variable_of(option.name));
  if (!option.ollama.variable.empty()) json.string("ollama", option.ollama.variable);
  return json.object();
}

std::string model_json(const Config& config, const std::string& key, const ModelOptions& model) {
  JsonWriter json;
  for (const ModelOption& option : model_options()) {
    const auto value = value_in(model, option);
    if (!value) continue;
    JsonWriter one;
    one.raw("value", json_of(*value));
    const auto set = config.set_by.find(fmt::format("models.{}.{}", key, option.name));
    if (set != config.set_by.end()) {
      one.string("source", name_of(set->second.source)).string("origin", set->second.place);
    }
    json.raw(option.name, one.object());
  }
  return json.object();
}

constexpr std::string_view kModules =
    R"(
## Modules

A section `[modules."NAME"]` declares a text that requests can name instead of sending it: house
rules, a list of tools, a document. See [prefix.md](prefix.md#modules). A name is 1 to 64 letters,
digits, `_`, `-` and `.`. All of it takes effect with a reload, which also reads the files again.

```toml
[modules."house"]
text = "Answer briefly. Temperatures are in degrees Celsius."
models = ["qwen2.5:7b"]

[modules."manual"]
file = "/srv/texts/heat-pump.txt"
```

| key | meaning |
| --- | --- |
| `text` | the text; this or `file` |
| `file` | a file that holds it, at most 1 MiB; a relative )"
    R"(path is one beside the configuration. While it cannot be read, the module )"
    R"(is broken: the log warns (`module.broken`), and requests that name it get a 503 |
| `models` | models for which it is kept warm: evaluated once )"
    R"(while the loaded model has nothing else to do, and kept |
)";

constexpr std::string_view kProtected =
    R"(
## Protected services

A section `[protected."NAME"]` names another program that comes first: Hearth watches it, learns how
it does while nothing is computed, and gives way before it suffers. See
[levels.md](levels.md#services-that-come-first). A name is 1 to 64 letters, digits, `_`, `-` and
`.`; there may be 16 of them. All of it takes effect with a reload.

```toml
[protected."recorder"]
process = "frigate"

[protected."automation"]
url = "http://127.0.0.1:8123/manifest.json"
p99_percent = 120
```

| key | meaning | default | allowed |
| --- | --- | --- | --- |
| `process` | its name or its executable's, without a path; this, `cgroup` or `url` | | |
| `cgroup` | a path below `/sys/fs/cgroup`, such as `system.slice/frigate.service` | | |
| `url` | what is asked of it every two seconds; `http://` only | | |
| `p99_percent` | how far its latency may rise, of its usual p99 | 110 | 101 to 10000 |
| `psi_limit` | how much of the time its cgroup may wait for processor, memory or disk, )"
    R"(in percent; 0: not looked at | 10 | 0 to 100 |
| `release_pins` | whether pinned pages may be given back for its sake | `false` | `true`, `false` |
)";

constexpr std::string_view kTraces =
    R"(
## Traces

The options `traces_...` can also stand in a section of their own, without that prefix:

```toml
[traces]
endpoint = "http://127.0.0.1:4318/v1/traces"
headers = ["x-api-key=KEY"]
sample_percent = 20
```

What nobody has set is taken from the variables of OpenTelemetry that an option names, unless
`OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none`. The log says at the start which
ones were used (`config.from_otel`), and which cannot be followed and why (`config.otel_ignored`):
these refuse no start. See [traces.md](traces.md).
)";

std::string protected_json(const Config& config, const ProtectedOptions& service) {
  JsonWriter json;
  if (!service.process.empty()) json.string("process", service.process);
  if (!service.cgroup.empty()) json.string("cgroup", service.cgroup);
  if (!service.url.empty()) json.string("url", service.url);
  json.integer("p99_percent", service.p99_percent).integer("psi_limit", service.psi_limit);
  json.yes_or_no("release_pins", service.release_pins);
  const auto set = config.set_by.find("protected." + service.name);
  if (set != config.set_by.end()) json.string("origin", set->second.place);
  return json.object();
}

std::string module_json(const Config& config, const ModuleOptions& module) {
  JsonWriter json;
  if (!module.file.empty()) json.string("file", module.file);
  if (module.file.empty()) json.integer("bytes", static_cast<std::int64_t>(module.text.size()));
  json.raw("models", json_of(Value{module.models}));
  const auto set = config.set_by.find("modules." + module.name);
  if (set != config.set_by.end()) json.string("origin", set->second.place);
  return json.object();
}

}  // namespace

std::string options_help() {
  std::string out;
  for (const Option& option : options()) {
    std::string text = without_backticks(std::string{option.help}) + " [" + default_of(option);
    if (!option.unit.empty()) text += " " + std::string{option.unit};
    if (const std::string values = allowed(option, ""); !values.empty()) text += "; " + values;
    out += fmt::format("{:<{}}{}\n", option.name, kNameWidth, wrapped(text + "]", kNameWidth));
  }
  return out;
}

std::string options_markdown() {
  std::string out{kIntroduction};
  for (const Option& option : options()) out += markdown_of(option);
  out += kModels;
  return out + markdown_of_models() + std::string{kModules} + std::string{kProtected} +
         std::string{kTraces};
}

std::string config_json(const Config& config) {
  std::string list;
  for (const Option& option : options()) {
    list += (list.empty() ? "" : ",") + option_json(config, option);
  }
  JsonWriter models;
  for (const auto& [key, model] : config.models) {
    models.raw(model.name, model_json(config, key, model));
  }
  JsonWriter json;
  JsonWriter modules;
  for (const auto& [name, module] : config.modules) modules.raw(name, module_json(config, module));
  JsonWriter services;
  for (const auto& [name, service] : config.protected_services) {
    services.raw(name, protected_json(config, service));
  }
  json.string("file", config.file).raw("options", "[" + list + "]");
  json.raw("models", models.object()).raw("modules", modules.object());
  return json.raw("protected", services.object()).object();
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>
#include <system_error>
#include <variant>

namespace hearth::front {
namespace {

using Member =
    std::variant<std::string Config::*, std::int64_t Config::*, std::vector<std::string> Config::*>;

struct Option {
  std::string_view name;
  Member member;
  std::string_view help;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

constexpr std::int64_t kMillion = 1'000'000;

const std::array kOptions{
    Option{"listen", &Config::listen, "address and port to serve on; port 0 picks a free one"},
    Option{"data", &Config::data, "directory of catalogue, history and lock; mode 0700"},
    Option{"log_level", &Config::log_level, "debug, info, warn or error"},
    Option{"layers_off", &Config::layers_off,
           "cache layers that keep nothing: artifact, pages, weights, compiled, prefix"},
    Option{"parallel", &Config::parallel, "sequences of one model that are evaluated together", 1,
           64},
    Option{"context", &Config::context, "tokens per sequence; 0: what the model was trained for", 0,
           16 * kMillion},
    Option{"threads", &Config::threads, "evaluation threads; 0: the physical cores", 0, 1024},
    Option{"queue", &Config::queue, "requests that may wait for one model before 503", 0, kMillion},
    Option{"hang_seconds", &Config::hang_seconds, "a worker without progress for so long is ended",
           1, 86'400},
    Option{"drain_seconds", &Config::drain_seconds, "how long a stop waits for replies under way",
           0, 86'400},
    Option{"history_rows", &Config::history_rows, "requests that the history keeps", 100,
           10 * kMillion},
    Option{"hollow_workers", &Config::hollow_workers,
           "models, last used first, whose vocabulary is kept ready from the start", 0, 64},
    Option{"max_body_mib", &Config::max_body_mib, "largest request body, MiB", 1, 1024},
    Option{"max_connections", &Config::max_connections, "clients at once", 8, kMillion},
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string_view nearest_name(std::string_view name) {
  return std::min_element(kOptions.begin(), kOptions.end(),
                          [&](const Option& a, const Option& b) {
                            return edit_distance(a.name, name) < edit_distance(b.name, name);
                          })
      ->name;
}

Failed invalid(std::string_view origin, std::string message) {
  return fail(ErrorCode::kInvalid, fmt::format("{}: {}", origin, message));
}

Failed unknown(std::string_view origin, std::string_view name) {
  return invalid(origin, fmt::format("there is no option \"{}\"; did you mean \"{}\"?", name,
                                     nearest_name(name)));
}

Result<> set_integer(Config& config, const Option& option, std::int64_t value,
                     std::string_view origin) {
  if (value < option.least || value > option.most) {
    return invalid(origin, fmt::format("{} must be from {} to {}, not {}", option.name,
                                       option.least, option.most, value));
  }
  config.*std::get<std::int64_t Config::*>(option.member) = value;
  return {};
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ',' && c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// From the environment or the command line, where everything is text.
Result<> set_text(Config& config, const Setting& setting) {
  const Option* option = find_option(setting.name);
  if (option == nullptr) return unknown(setting.origin, setting.name);
  if (const auto* text = std::get_if<std::string Config::*>(&option->member)) {
    config.** text = setting.value;
    return {};
  }
  if (const auto* list = std::get_if<std::vector<std::string> Config::*>(&option->member)) {
    config.** list = words_of(setting.value);
    return {};
  }
  std::int64_t value = 0;
  const char* end = setting.value.data() + setting.value.size();
  const auto [stop, error] = std::from_chars(setting.value.data(), end, value);
  if (error != std::errc{} || stop != end) {
    return invalid(setting.origin, fmt::format("{} must be a whole number, not \"{}\"",
                                               option->name, setting.value));
  }
  return set_integer(config, *option, value, setting.origin);
}

Result<> set_node(Config& config, const Option& option, const toml::node& node,
                  std::string_view origin) {
  if (std::holds_alternative<std::int64_t Config::*>(option.member)) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value) return invalid(origin, fmt::format("{} must be a whole number", option.name));
    return set_integer(config, option, *value, origin);
  }
  if (const auto* text = std::get_if<std::string Config::*>(&option.member)) {
    const auto value = node.value_exact<std::string>();
    if (!value) return invalid(origin, fmt::format("{} must be a string", option.name));
    config.** text = *value;
    return {};
  }
  const toml::array* array = node.as_array();
  std::vector<std::string> words;
  if (array != nullptr) {
    for (const toml::node& item : *array)
      words.push_back(item.value_exact<std::string>().value_or(""));
  }
  if (array == nullptr || std::find(words.begin(), words.end(), "") != words.end()) {
    return invalid(origin, fmt::format("{} must be a list of strings", option.name));
  }
  config.*std::get<std::vector<std::string> Config::*>(option.member) = std::move(words);
  return {};
}

std::string position(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", path, source.begin.line, source.begin.column);
}

Result<> read_file(Config& config, const std::string& path) {
  std::error_code unknown_kind;  // a directory would read as an empty table
  if (std::filesystem::is_directory(path, unknown_kind)) {
    return fail(ErrorCode::kNotFound, "cannot read " + path);
  }
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    if (error.source().begin.line == 0) return fail(ErrorCode::kNotFound, "cannot read " + path);
    return invalid(position(path, error.source()), std::string{error.description()});
  }
  for (const auto& [key, node] : table) {
    const Option* option = find_option(key.str());
    if (option == nullptr) return unknown(position(path, key.source()), key.str());
    if (auto set = set_node(config, *option, node, position(path, node.source())); !set) return set;
  }
  return {};
}

std::vector<Setting> from_environment() {
  std::vector<Setting> settings;
  for (const Option& option : kOptions) {
    std::string name = "HEARTH_";
    for (const char c : option.name)
      name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (const char* value = std::getenv(name.c_str())) {
      settings.push_back({std::string{option.name}, value, name});
    }
  }
  return settings;
}

Result<> check_whole(Config& config) {
  Result<LayerSwitches> switches = switches_without(config.layers_off);
  if (!switches) return Failed{std::move(switches).error().during("layers_off")};
  config.switches = *switches;
  static constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};
  if (std::find(kLevels.begin(), kLevels.end(), config.log_level) == kLevels.end()) {
    return invalid("log_level",
                   "must be debug, info, warn or error, not \"" + config.log_level + "\"");
  }
  if (auto address = parse_listen(config.listen); !address) {
    return Failed{std::move(address).error().during("listen")};
  }
  if (config.data.empty()) config.data = default_data_directory();
  return {};
}

}  // namespace

std::string default_data_directory() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/') {
    return std::string{data} + "/hearth";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string{home} + "/.local/share/hearth";
  }
  return "/var/lib/hearth";
}

Result<Config> load_config(const std::string& toml_path, const std::vector<Setting>& arguments) {
  Config config;
  if (!toml_path.empty()) {
    if (auto read = read_file(config, toml_path); !read) return Failed{std::move(read).error()};
  }
  std::vector<Setting> settings = from_environment();
  settings.insert(settings.end(), arguments.begin(), arguments.end());
  for (const Setting& setting : settings) {
    if (auto set = set_text(config, setting); !set) return Failed{std::move(set).error()};
  }
  if (auto checked = check_whole(config); !checked) return Failed{std::move(checked).error()};
  return config;
}

std::string describe_options() {
  const Config defaults;
  std::string out;
  for (const Option& option : kOptions) {
    std::string value;
    if (const auto* text = std::get_if<std::string Config::*>(&option.member)) {
      value = '"' + defaults.**text + '"';
    } else if (const auto* number = std::get_if<std::int64_t Config::*>(&option.member)) {
      value = std::to_string(defaults.**number);
    } else {
      value = "[]";
    }
    out += fmt::format("{:<16} {:<20} {}\n", option.name, value, option.help);
  }
  return out;
}

Result<ListenAddress> parse_listen(const std::string& text) {
  constexpr std::uint16_t kDefaultPort = 11435;
  ListenAddress address{text, kDefaultPort};
  const std::size_t colon = text.rfind(':');
  const bool bare_v6 = !text.empty() && text.find(':') != colon && text.front() != '[';
  const std::size_t bracket = text.rfind(']');
  const bool has_port =
      colon != std::string::npos && !bare_v6 && (bracket == std::string::npos || colon > bracket);
  if (has_port) {
    address.host = text.substr(0, colon);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error != std::errc{} || stop != end) {
      return fail(ErrorCode::kInvalid, "the port of \"" + text + "\" is no number from 0 to 65535");
    }
  }
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  // ":11435" names no address: it stays on loopback. Serving others is said with "0.0.0.0".
  if (address.host.empty()) address.host = "127.0.0.1";
  return address;
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "layers/switches.h"

namespace hearth::front {

// All that can be set. One table in config.cpp names every option once, with its help, default and
// bounds; file, environment and --help are made from it.
struct Config {
  std::string listen = "127.0.0.1:11435";
  std::string data;  // directory; empty: see default_data_directory()
  std::string log_level = "info";
  std::vector<std::string> layers_off;  // names of cache layers that keep nothing
  std::int64_t parallel = 4;            // sequences of one model at once
  std::int64_t context = 0;             // tokens per sequence; 0: what the model was trained for
  std::int64_t threads = 0;             // of evaluation; 0: the physical cores of this process
  std::int64_t queue = 512;             // waiting requests per model
  std::int64_t hang_seconds = 30;
  std::int64_t drain_seconds = 30;  // how long SIGTERM waits for requests under way
  std::int64_t history_rows = 10'000;
  std::int64_t hollow_workers = 2;  // kept ready from the start, for the models used last
  std::int64_t max_body_mib = 64;
  std::int64_t max_connections = 4096;

  LayerSwitches switches;  // from layers_off
};

// Where a value came from, for messages: "hearth.toml:3:9", "HEARTH_LISTEN", "--listen".
struct Setting {
  std::string name;
  std::string value;
  std::string origin;
};

// $XDG_DATA_HOME/hearth, or ~/.local/share/hearth, or /var/lib/hearth without a home.
std::string default_data_directory();

// Defaults, then the TOML file (may be empty: none), then HEARTH_* of the environment, then
// `arguments`: later ones win. Everything is checked: an unknown key, a wrong type or a value out
// of bounds is an error that names its origin with line and column, and the nearest known name.
// Errors: kNotFound (no such file), kInvalid.
Result<Config> load_config(const std::string& toml_path, const std::vector<Setting>& arguments);

// A line for each option: name, default, help.
std::string describe_options();

// "HOST:PORT", "HOST", ":PORT", "[::1]:PORT". Errors: kInvalid.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};
Result<ListenAddress> parse_listen(const std::string& text);

}  // namespace hearth::front

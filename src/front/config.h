// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "front/access_rules.h"
#include "front/config/listen.h"
#include "front/config/origin.h"
#include "front/config/protected_options.h"
#include "front/keep_alive.h"
#include "layers/switches.h"

namespace hearth::front {

// What one model's section of the file says, [models."qwen:9b"]; what it leaves out is the general
// option's.
struct ModelOptions {
  std::string name;                  // canonical, as the section wrote it
  std::vector<std::string> aliases;  // canonical
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> parallel;
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> queue;
  std::optional<bool> exact;
  std::optional<KeepAlive> keep_alive;
  std::optional<std::int64_t> priority;  // -10 to 10; higher goes first and stays longer
  std::optional<std::int64_t> ttft_ms;   // what the first token may take; 0: no demand
  std::optional<KeepAlive> idle_gap;     // after which that still has to hold; has a length
};

// What a section [modules."house"] of the file declares: a text that requests can name.
struct ModuleOptions {
  std::string name;
  std::string text;                 // one of the two
  std::string file;                 // a path; not opened yet
  std::vector<std::string> models;  // canonical; for which it is kept warm

  friend bool operator==(const ModuleOptions&, const ModuleOptions&) = default;
};

// All that can be set. config/options.cpp has one table that names every option once, with its
// help, bounds and when a change takes effect; the file, the environment, --help, the
// documentation and the API are made from it. Defaults are the values here.
struct Config {
  std::string listen = "127.0.0.1:11435";
  std::string data;  // directory; load_config() fills in default_data_directory()
  std::string log_level = "info";
  std::vector<std::string> layers_off;  // names of cache layers that keep nothing
  KeepAlive keep_alive = KeepAlive::until_wanted();
  std::int64_t parallel = 4;       // sequences of one model at once
  std::int64_t context = 0;        // tokens per sequence; 0: what the model was trained for
  std::int64_t threads = 0;        // of evaluation, at most; 0: the physical cores of this process
  bool exact = false;              // the same bits for the same request
  std::int64_t worker_nice = 0;    // of evaluation threads
  std::int64_t queue = 512;        // waiting requests per model
  std::int64_t hang_seconds = 30;  // 0: no limit
  std::int64_t drain_seconds = 30;
  std::int64_t history_rows = 10'000;
  std::int64_t hollow_workers = 2;
  std::string read_serial = "auto";           // "auto", "always", "never"
  std::int64_t compiled_disk_gib = 20;        // for what starts compute; 0: nothing is kept
  std::int64_t prefix_memory_mib = -1;        // -1: a tenth of what is available at start; 0: none
  std::int64_t prefix_disk_gib = 10;          // 0: none
  std::int64_t prefix_daily_gib = 10;         // written a day
  std::int64_t prefix_days = 30;              // unused prompt state is kept so long on disk
  std::vector<std::string> prefix_groups;     // "group: key, key"
  std::vector<std::string> prefix_normalise;  // patterns
  std::int64_t memory_mib = 0;          // for all that models hold; 0: a share of what is available
  std::int64_t memory_reserve_mib = 0;  // stays free; 0: a twentieth, at least 256
  std::int64_t device_mib = 0;          // likewise of each device; 0: all of it
  std::int64_t psi_limit = 10;          // percent of time that waits for memory; 0: any
  bool prewarm = true;
  std::int64_t prewarm_daily_gib = 20;  // read a day
  std::int64_t pinned_mib = 0;          // of pages, all together; 0: half of the machine's memory
  std::vector<std::string> stores{"huggingface", "ollama", "lmstudio"};  // looked into
  std::vector<std::string> folders;                                      // watched for models
  std::vector<std::string> pull_hosts{"huggingface.co", "hf.co", "registry.ollama.ai"};
  std::string huggingface_endpoint = "https://huggingface.co";
  std::string ollama_registry = "https://registry.ollama.ai";
  std::int64_t pull_rate_mib = 0;  // per second; 0: no limit
  std::int64_t pull_connections = 4;
  std::int64_t pull_stall_seconds = 30;
  std::int64_t partial_days = 14;  // parts of a pull that nobody goes on with are kept so long
  std::int64_t verify_days = 0;    // 0: only when asked
  std::string traces_endpoint;     // "http://host[:port][/path]"; empty: none are sent
  std::vector<std::string> traces_headers;  // "name=value", secret
  std::int64_t traces_sample_percent = 100;
  std::string traces_service_name = "hearth";
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  std::int64_t max_header_kib = 64;
  std::int64_t max_body_mib = 64;
  std::int64_t max_bodies_mib = 512;  // all together
  std::int64_t max_connections = 4096;
  std::int64_t max_connections_per_address = 256;
  std::int64_t header_timeout_seconds = 30;
  std::int64_t body_timeout_seconds = 30;
  std::int64_t idle_timeout_seconds = 75;
  std::int64_t write_timeout_seconds = 60;

  std::map<std::string, ModelOptions> models;                  // by ModelName::key()
  std::map<std::string, ModuleOptions> modules;                // by name
  std::map<std::string, ProtectedOptions> protected_services;  // by name

  LayerSwitches switches;       // from layers_off
  Origins set_by;               // of each option that is not at its default
  std::vector<Notice> notices;  // for the log, once
  std::string file;             // that was read; empty: none

  // The section of this model (by ModelName::key()), with the general options in its gaps.
  ModelOptions effective(const std::string& key) const;

  // Who says how long this model stays: "configuration", "OLLAMA_KEEP_ALIVE" or "default".
  std::string keep_alive_source(const std::string& key) const;

  // How long a worker may show no progress; hang_seconds = 0 is longer than anybody waits.
  std::chrono::seconds hang_limit() const;

  AccessRules access() const { return {hosts, origins}; }
  log::Level level() const;
};

// $XDG_DATA_HOME/hearth, or ~/.local/share/hearth, or /var/lib/hearth without a home.
std::string default_data_directory(const Environment& environment);

// Where a configuration is read from.
struct ConfigSources {
  std::string file;  // empty: see config_file()
  std::vector<Setting> arguments;
  Environment environment = process_environment();
};

// `sources.file`, or $HEARTH_CONFIG, or the first that exists of
// $XDG_CONFIG_HOME/hearth/hearth.toml
// (~/.config/hearth/hearth.toml without that variable) and /etc/hearth/hearth.toml; empty when
// there is none.
std::string config_file(const ConfigSources& sources);

// Defaults, then OLLAMA_* of the environment, then the TOML file, then HEARTH_* of the environment,
// then the arguments: later ones win. An OLLAMA_* variable that is overruled is not even read.
//
// Everything is checked. Errors: kInvalid, with one line for each thing that is wrong; a line
// begins with its place ("FILE:LINE:COLUMN: ", "HEARTH_LISTEN: ", "--option: ") and names the
// nearest thing that would have been right. Also for a file that cannot be read.
Result<Config> load_config(const ConfigSources& sources);

}  // namespace hearth::front

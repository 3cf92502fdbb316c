// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace hearth::cli {

// Adds `hearth serve` to the command line.
void add_serve(CLI::App& app);

struct ServeOptions {
  std::string config;                // TOML file; empty: none
  std::string listen;                // HOST:PORT; empty: as configured
  std::string data;                  // directory; empty: as configured
  std::vector<std::string> options;  // "name=value", as in the file
};

// Runs the server until SIGTERM or SIGINT, then drains and returns 0. A second signal ends it at
// once. Returns 1 when it cannot start, with the reason on stderr, and 64 for a wrong
// configuration.
int serve(const ServeOptions& options);

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "front/config.h"

// The table of options, for people and for programs.
namespace hearth::front {

// For --help: a line or two for each option, with its default.
std::string options_help();

// docs/configuration.md.
std::string options_markdown();

// {"file": ..., "options": [{"name", "value", "default", "source", "origin", "help",
// "takes_effect", "unit"?, "least"?, "most"?, "words"?, "variable", "ollama"?}], "models": {NAME:
// {KEY: {"value", "source", "origin"}}}, "modules": {NAME: {"file"?, "bytes"?, "models",
// "origin"}}, "protected":
// {NAME: {"process"|"cgroup"|"url", "p99_percent", "psi_limit", "release_pins", "origin"}}}
std::string config_json(const Config& config);

}  // namespace hearth::front

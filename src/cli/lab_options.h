// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/studies/arm.h"

namespace hearth::cli {

// What all studies of the lab are told. Kept in the run's directory, so that `--resume` needs no
// other option.
struct LabOptions {
  std::vector<std::string> models;   // files, or names that a running server knows
  std::string name_there;            // at servers that are given by address
  std::vector<std::string> against;  // kinds of server and addresses
  bool without_hearth = false;
  std::string hearth, llama_server, ollama, llama_swap;  // programs
  std::string out, resume;
  std::string host, key;  // --host and --key: of the server that knows models' names; the key is
                          // also for servers given by address
  std::vector<std::string> only;
  bool json = false;
  bool quick = false;
  int repetitions = 0;  // 0: 5 with --quick, else 15
  std::uint64_t seed = 1;
  double quiet_s = 60;
  double patience_s = 0;  // 0: as the model's size asks for
  int threads = 0;
  int context = 4096;

  // idle
  std::string mode = "fast";
  std::vector<int> gaps;  // minutes
  int real_repetitions = 3;
  // idle and mix
  std::string with;  // "backup"
  // ablate
  std::vector<std::string> tiers, without;
  // mix
  std::string trace;
  int requests = 200;

  lab::Preset preset() const { return quick ? lab::Preset::kQuick : lab::Preset::kFull; }
  int blocks() const { return repetitions > 0 ? repetitions : quick ? 5 : 15; }
};

// The options that every study has. `options` outlives the verb.
void add_study_options(CLI::App& verb, LabOptions& options);

// All but `out`, `resume`, `json`, `host` and `key`.
std::string to_json(const LabOptions& options);
// Errors: kCorrupt.
Result<LabOptions> lab_options_from(const std::string& json);

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "lab/run_directory.h"
#include "lab/trial.h"

// Rows for tests, as runs have them.
namespace hearth::lab::sample {

struct Arm {
  std::string name;
  double hearth_ms = 0;
  double other_ms = 0;
};

inline const std::vector<Arm>& arms() {
  static const std::vector<Arm> kArms{
      {"after reboot", 1800, 2400}, {"page-cold 50 %", 900, 1300}, {"immediate repeat", 20, 25}};
  return kArms;
}

inline Trial row(const std::string& side, const std::string& arm, double wait_ms) {
  Trial trial;
  trial.study = "classes";
  trial.side = side;
  trial.arm = arm;
  trial.timing.first_token_ms = wait_ms;
  trial.timing.total_ms = wait_ms + 100;
  trial.timing.tokens_per_second = 80;
  trial.before.pages = 0.5;
  return trial;
}

// Both sides in each arm, `blocks` times, each wait off by up to a tenth.
inline std::vector<Trial> rows(int blocks, double factor = 1, std::uint64_t seed = 1) {
  Random random{seed};
  std::vector<Trial> made;
  for (int block = 0; block < blocks; ++block) {
    for (const Arm& arm : arms()) {
      const double noise = 0.9 + 0.2 * static_cast<double>(random.next() % 1000) / 1000;
      Trial ours = row("hearth", arm.name, arm.hearth_ms * noise * factor);
      ours.timing.stages_ms = {{"read", arm.hearth_ms / 2}, {"prefill", arm.hearth_ms / 4}};
      ours.verdict_code = "storage_read";
      ours.verdict_text = "half of it had to be read";
      Trial theirs = row("llama-server", arm.name, arm.other_ms * noise);
      for (Trial* trial : {&theirs, &ours}) {
        trial->block = block;
        trial->order = static_cast<int>(made.size());
        made.push_back(*trial);
      }
    }
  }
  return made;
}

inline RunInfo info() {
  RunInfo info;
  info.study = "classes";
  info.model = "smollm2";
  info.machine = R"({"kernel":"6.1","processors":{"online":2},"not_observable":{"joules":"no"}})";
  for (const Arm& arm : arms()) info.arms.push_back(arm.name);
  info.about = {{"after reboot", "nothing is in memory"}};
  return info;
}

}  // namespace hearth::lab::sample

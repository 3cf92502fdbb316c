// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/habits.h"

#include <fmt/format.h>

namespace hearth::lab {

Habits habits_of(const std::string& kind) {
  using std::chrono::minutes;
  if (kind == "ollama") {
    return {minutes{5}, "Ollama ends the process that holds a model after 5 minutes without use."};
  }
  if (kind == "hearth") {
    return {{}, "Hearth keeps weights until their memory is wanted."};
  }
  if (kind == "llama-server") {
    return {{}, "llama-server keeps its model as long as it runs."};
  }
  if (kind == "llama-swap") {
    return {{}, "llama-swap keeps a model until another one is asked for."};
  }
  return {{}, "What this server does when nobody asks it is not known."};
}

StateSpec after_pause(const Arm& arm, const Habits& habits, Meanwhile meanwhile) {
  StateSpec state = arm.state;
  if (!arm.pause) return state;
  state.server = StateSpec::Server::kAsIs;
  state.prompts = StateSpec::Prompts::kAsIs;
  const bool unloaded = habits.unloads_after && *arm.pause >= *habits.unloads_after;
  state.weights = unloaded ? StateSpec::Weights::kUnloaded : StateSpec::Weights::kAsIs;
  if (meanwhile == Meanwhile::kBackup && *arm.pause >= kBackupAfter) {
    state.competitor = Competitor::kBackupScan;
    state.competes = StateSpec::When::kBefore;
  }
  return state;
}

std::string pause_text(std::chrono::minutes pause) {
  const auto count = pause.count();
  if (count >= 60 && count % 60 == 0) return fmt::format("{} h", count / 60);
  return fmt::format("{} min", count);
}

}  // namespace hearth::lab

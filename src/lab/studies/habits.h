// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lab/studies/arm.h"

namespace hearth::lab {

// What a kind of server does by itself while nobody asks it, as it comes out of its box.
struct Habits {
  std::optional<std::chrono::minutes> unloads_after;
  std::string about;  // a sentence for the report
};

// By the name of the kind: "hearth", "llama-server", "ollama", "llama-swap"; of another: nothing is
// known, and nothing is expected to happen.
Habits habits_of(const std::string& kind);

// What else goes on in the house meanwhile.
enum class Meanwhile { kNothing, kBackup };
inline constexpr std::chrono::minutes kBackupAfter{30};

// The state of an arm with a pause, after the events of that pause. Pages stay as the kernel has
// them. An arm without one comes back as it was.
StateSpec after_pause(const Arm& arm, const Habits& habits, Meanwhile meanwhile);

// "0 min", "10 min", "8 h".
std::string pause_text(std::chrono::minutes pause);

}  // namespace hearth::lab

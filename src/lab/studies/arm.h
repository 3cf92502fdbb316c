// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/state/state_spec.h"
#include "lab/target/target.h"

namespace hearth::lab {

// Tokens of a prompt that is long enough for its state to be kept by servers that keep whole
// blocks, and short enough to be evaluated within a second.
inline constexpr int kKeptPrompt = 200;

// How thorough a study is.
enum class Preset { kQuick, kFull };

// One state of a study, and what is asked in it.
struct Arm {
  StateSpec state;
  int prompt_tokens = 32;
  int longer_each_block = 0;  // tokens: so that a length has not been met before
  // The server was in use, and what happens to it in so long a pause has then happened.
  std::optional<std::chrono::minutes> pause;
  std::map<std::string, double> extra;  // see Trial::extra
};

struct Study {
  std::string name;
  std::vector<Arm> arms;
};

// Only the arms whose names begin with one of `wanted`; all of them where that is empty.
Study only(Study study, const std::vector<std::string>& wanted);

std::vector<StateSpec> states_of(const Study& study);

// The fixed request of an arm: the same one in each block, but where it is to be longer each time.
Question question_of(const Arm& arm, int block);

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/arm.h"

#include <algorithm>

#include "lab/studies/prompts.h"

namespace hearth::lab {

Study only(Study study, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return study;
  std::erase_if(study.arms, [&wanted](const Arm& arm) {
    return std::ranges::none_of(
        wanted, [&arm](const std::string& name) { return arm.state.name.starts_with(name); });
  });
  return study;
}

std::vector<StateSpec> states_of(const Study& study) {
  std::vector<StateSpec> states;
  for (const Arm& arm : study.arms) states.push_back(arm.state);
  return states;
}

Question question_of(const Arm& arm, int block) {
  const int tokens = arm.prompt_tokens + arm.longer_each_block * (block + 1);
  Question question;
  // Prompts of different lengths differ from their first words on, so that none of them is found
  // in another's stored state.
  question.prompt = prompt_of(tokens, tokens);
  return question;
}

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "front/prefix_reasons/recent_prompts.h"
#include "front/prefix_reasons/volatile_heads.h"
#include "wire/prefix_messages.h"

namespace hearth::front {

// Why prompts are evaluated that are almost like earlier ones: for each request the place where it
// leaves the nearest of them, over many what changes in every one. Knows prompts by their tokens
// and keeps them in memory only, see RecentPrompts. Belongs to the loop.
class PrefixReasons {
 public:
  struct Noted {
    // The place goes to the worker with the plan, which knows the texts.
    std::optional<wire::PrefixPlanMessage::Difference> difference;
    // Tokens that are alike behind it, where that place is another one in each prompt; else 0.
    int behind_volatile_head = 0;
  };
  // Before the request's plan.
  Noted note_prompt(const PromptSource& source, std::span<const int> tokens);

  // StartedMessage::prefix.difference of the same request.
  void note_difference(const PromptSource& source, const wire::PrefixOutcome::Difference& texts);

  std::vector<VolatileHead> findings() const { return heads_.list(); }

  // With the prompt state of a model, or of one group there; an empty model: of every one.
  void forget(const std::string& model, const std::optional<std::string>& group);

 private:
  RecentPrompts recent_;
  VolatileHeads heads_;
};

}  // namespace hearth::front

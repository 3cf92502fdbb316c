// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/prefix_reasons.h"

namespace hearth::front {

std::optional<wire::PrefixPlanMessage::Difference> PrefixReasons::note_prompt(
    const PromptSource& source, std::span<const int> tokens) {
  const std::vector<std::span<const int>> earlier = recent_.of(source);
  heads_.look(source, tokens, earlier);
  const std::optional<NearestPrompt> nearest = nearest_of(earlier, tokens);
  auto difference = nearest ? difference_of(*nearest, tokens) : std::nullopt;
  recent_.add(source, tokens);  // from here on `earlier` is void
  return difference;
}

void PrefixReasons::note_difference(const PromptSource& source,
                                    const wire::PrefixOutcome::Difference& texts) {
  heads_.note_texts(source, texts);
}

void PrefixReasons::forget(const std::string& model, const std::optional<std::string>& group) {
  recent_.forget(model, group);
  heads_.forget(model, group);
}

}  // namespace hearth::front

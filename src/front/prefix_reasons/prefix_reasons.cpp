// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/prefix_reasons.h"

namespace hearth::front {
namespace {

int alike_behind(std::span<const int> a, std::span<const int> b, std::size_t at) {
  const std::optional<Resumption> on = resumption(a, b, at);
  if (!on) return 0;
  return static_cast<int>(common_length(a.subspan(at + on->a), b.subspan(at + on->b)));
}

}  // namespace

PrefixReasons::Noted PrefixReasons::note_prompt(const PromptSource& source,
                                                std::span<const int> tokens) {
  const std::vector<std::span<const int>> earlier = recent_.of(source);
  const bool volatile_head = heads_.look(source, tokens, earlier);
  const std::optional<NearestPrompt> nearest = nearest_of(earlier, tokens);
  Noted noted;
  if (nearest) noted.difference = difference_of(*nearest, tokens);
  if (nearest && volatile_head) {
    noted.behind_volatile_head = alike_behind(nearest->tokens, tokens, nearest->common);
  }
  recent_.add(source, tokens);  // from here on `earlier` is void
  return noted;
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

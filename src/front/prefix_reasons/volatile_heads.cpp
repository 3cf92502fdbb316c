// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/volatile_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace hearth::front {
namespace {

using Tokens = std::span<const int>;

constexpr int kNear = static_cast<int>(kResumeWithin);

bool is_near(int a, int b) { return std::abs(a - b) <= kNear; }

// Whether what differs between the two is a small thing early on.
bool differs_in_its_head(Tokens a, Tokens b, std::size_t common) {
  const std::size_t shorter = std::min(a.size(), b.size());
  return common < shorter - shorter / 4 && resumption(a, b, common).has_value();
}

// Whether `other` is one more variant of the place at `position`, beside those known.
bool is_variant(Tokens other, std::span<const Tokens> known, std::size_t position) {
  return std::ranges::all_of(known, [&](Tokens one) {
    const std::size_t common = common_length(other, one);
    return is_near(static_cast<int>(common), static_cast<int>(position)) &&
           differs_in_its_head(other, one, common);
  });
}

bool has_variants(Tokens tokens, const NearestPrompt& nearest, std::span<const Tokens> earlier) {
  std::vector<Tokens> known{tokens, nearest.tokens};
  for (const Tokens other : earlier) {
    if (known.size() == VolatileHeads::kVariants) break;
    if (is_variant(other, known, nearest.common)) known.push_back(other);
  }
  return known.size() == VolatileHeads::kVariants;
}

}  // namespace

bool VolatileHeads::look(const PromptSource& source, Tokens tokens,
                         std::span<const Tokens> earlier) {
  const std::optional<NearestPrompt> nearest = nearest_of(earlier, tokens);
  if (!nearest || !differs_in_its_head(nearest->tokens, tokens, nearest->common)) {
    return false;
  }
  const int position = static_cast<int>(nearest->common);
  if (Found* found = find(source, position)) {
    ++found->head.requests;
    found->seen = ++clock_;
    return true;
  }
  if (!has_variants(tokens, *nearest, earlier)) return false;
  add(source, position);
  return true;
}

VolatileHeads::Found* VolatileHeads::find(const PromptSource& source, int position) {
  const auto found = std::ranges::find_if(found_, [&](const Found& one) {
    return one.source.model == source.model && one.source.domain == source.domain &&
           is_near(one.head.position, position);
  });
  return found == found_.end() ? nullptr : &*found;
}

void VolatileHeads::add(const PromptSource& source, int position) {
  if (found_.size() == kMost) found_.erase(std::ranges::min_element(found_, {}, &Found::seen));
  VolatileHead head;
  head.model = source.model;
  head.position = position;
  head.requests = kVariants;
  found_.push_back({source, std::move(head), ++clock_});
}

void VolatileHeads::note_texts(const PromptSource& source,
                               const wire::PrefixOutcome::Difference& texts) {
  Found* found = find(source, texts.position);
  if (found == nullptr) return;
  // The first place that was seen to differ: later ones are further inside the same thing.
  if (found->head.character && texts.position > found->head.position) return;
  found->head.position = texts.position;
  found->head.character = texts.character;
  found->head.had = texts.had;
  found->head.has = texts.has;
}

std::vector<VolatileHead> VolatileHeads::list() const {
  std::vector<VolatileHead> heads;
  for (const Found& found : found_) heads.push_back(found.head);
  std::ranges::sort(heads, {}, [](const VolatileHead& head) {
    return std::tuple{head.model, head.position, !head.character, -head.requests};
  });
  std::vector<VolatileHead> merged;
  for (VolatileHead& head : heads) {
    const bool same = !merged.empty() && merged.back().model == head.model &&
                      is_near(merged.back().position, head.position);
    if (same) {
      merged.back().requests += head.requests;
    } else {
      merged.push_back(std::move(head));
    }
  }
  return merged;
}

void VolatileHeads::forget(const std::string& model, const std::optional<std::string>& group) {
  std::erase_if(found_, [&](const Found& found) {
    return (model.empty() || found.source.model == model) &&
           (!group || found.source.group == *group);
  });
}

std::string text_of(const VolatileHead& head, std::string_view model) {
  std::string place = fmt::format("token {}", head.position);
  if (head.character) place += fmt::format(" (char {})", *head.character);
  std::string change;
  if (head.character) change = fmt::format(": had \"{}\", now \"{}\"", head.had, head.has);
  return fmt::format(
      "Prompts to {} change at {}{}. What follows is alike in {} requests and was evaluated anew "
      "in each.",
      model, place, change, head.requests);
}

std::string_view remedy_for_volatile_heads() {
  return "move what changes (a date, an id) to the end of the prompt, or name its line in "
         "prefix_normalise, such as \"Current date: *\"";
}

}  // namespace hearth::front

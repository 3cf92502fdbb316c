// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/recent_prompts.h"

#include <algorithm>

namespace hearth::front {
namespace {

bool is_continuation(const NearestPrompt& nearest, std::span<const int> tokens) {
  return nearest.common == std::min(nearest.tokens.size(), tokens.size());
}

}  // namespace

std::size_t common_length(std::span<const int> a, std::span<const int> b) {
  const auto differ = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(differ.in1 - a.begin());
}

// Shortest first, so that what is skipped in both together is least.
std::optional<Resumption> resumption(std::span<const int> a, std::span<const int> b,
                                     std::size_t at) {
  if (at >= a.size() || at >= b.size()) return std::nullopt;
  const std::span<const int> rest_a = a.subspan(at);
  const std::span<const int> rest_b = b.subspan(at);
  for (std::size_t both = 1; both <= 2 * kResumeWithin; ++both) {
    const std::size_t first = both > kResumeWithin ? both - kResumeWithin : 0;
    for (std::size_t i = first; i <= std::min(both, kResumeWithin); ++i) {
      const std::size_t j = both - i;
      if (i + kResumeFor > rest_a.size() || j + kResumeFor > rest_b.size()) continue;
      if (std::ranges::equal(rest_a.subspan(i, kResumeFor), rest_b.subspan(j, kResumeFor))) {
        return Resumption{i, j};
      }
    }
  }
  return std::nullopt;
}

Bytes RecentPrompts::Kept::size() const {
  return Bytes{sizeof(Kept) + domain.size() + group.size() + tokens.size() * sizeof(int)};
}

std::vector<std::span<const int>> RecentPrompts::of(const PromptSource& source) const {
  std::vector<std::span<const int>> found;
  const auto model = models_.find(source.model);
  if (model == models_.end()) return found;
  const std::deque<Kept>& prompts = model->second.prompts;
  for (auto prompt = prompts.rbegin(); prompt != prompts.rend(); ++prompt) {
    if (prompt->domain == source.domain) found.emplace_back(prompt->tokens);
  }
  return found;
}

void RecentPrompts::drop(OfModel& model, std::deque<Kept>::iterator prompt) {
  model.size = model.size - prompt->size();
  model.prompts.erase(prompt);
}

void RecentPrompts::shrink(OfModel& model, const std::string& domain) {
  const auto in_domain = [&domain](const Kept& kept) { return kept.domain == domain; };
  const auto count = std::ranges::count_if(model.prompts, in_domain);
  if (static_cast<std::size_t>(count) > kOfDomain) {
    drop(model, std::ranges::find_if(model.prompts, in_domain));
  }
  while (model.size > kOfModel) drop(model, model.prompts.begin());
}

void RecentPrompts::drop_silent_models() {
  while (models_.size() > kModels) {
    models_.erase(
        std::ranges::min_element(models_, {}, [](const auto& model) { return model.second.used; }));
  }
}

void RecentPrompts::add(const PromptSource& source, std::span<const int> tokens) {
  tokens = tokens.first(std::min(tokens.size(), kLongest));
  OfModel& model = models_[source.model];
  model.used = ++clock_;
  const auto same = std::ranges::find_if(model.prompts, [&](const Kept& kept) {
    return kept.domain == source.domain && std::ranges::equal(kept.tokens, tokens);
  });
  if (same != model.prompts.end()) drop(model, same);
  model.prompts.push_back({source.domain, source.group, {tokens.begin(), tokens.end()}});
  model.size += model.prompts.back().size();
  shrink(model, source.domain);
  drop_silent_models();
}

void RecentPrompts::forget(const std::string& model, const std::optional<std::string>& group) {
  for (auto& [name, kept] : models_) {
    if (!model.empty() && name != model) continue;
    std::erase_if(kept.prompts, [&group, &kept](const Kept& prompt) {
      const bool goes = !group || prompt.group == *group;
      if (goes) kept.size = kept.size - prompt.size();
      return goes;
    });
  }
  std::erase_if(models_, [](const auto& kept) { return kept.second.prompts.empty(); });
}

Bytes RecentPrompts::size() const {
  Bytes sum;
  for (const auto& [name, model] : models_) sum += model.size;
  return sum;
}

std::optional<NearestPrompt> nearest_of(std::span<const std::span<const int>> earlier,
                                        std::span<const int> tokens) {
  std::optional<NearestPrompt> best;
  for (const std::span<const int> prompt : earlier) {
    const NearestPrompt one{prompt, common_length(prompt, tokens)};
    const bool longer = !best || one.common > best->common;
    const bool continues = best && one.common == best->common && is_continuation(one, tokens) &&
                           !is_continuation(*best, tokens);
    if (longer || continues) best = one;
  }
  return best;
}

std::optional<wire::PrefixPlanMessage::Difference> difference_of(const NearestPrompt& nearest,
                                                                 std::span<const int> tokens) {
  if (is_continuation(nearest, tokens)) return std::nullopt;
  if (nearest.common == 0 && !resumption(nearest.tokens, tokens, 0)) return std::nullopt;
  return wire::PrefixPlanMessage::Difference{static_cast<int>(nearest.common),
                                             nearest.tokens[nearest.common]};
}

}  // namespace hearth::front

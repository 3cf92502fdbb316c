// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "wire/prefix_messages.h"

namespace hearth::front {

// Whose prompt it is. Prompts are compared within one domain only.
struct PromptSource {
  std::string model;   // its artifact
  std::string domain;  // GenerateMessage::domain
  std::string group;   // of keys that share
};

// How many leading tokens two prompts have in common.
std::size_t common_length(std::span<const int> a, std::span<const int> b);

// Where two prompts that differ at `at` go on alike: so many tokens after it in either.
struct Resumption {
  std::size_t a = 0;
  std::size_t b = 0;
};
inline constexpr std::size_t kResumeWithin = 32;  // tokens
inline constexpr std::size_t kResumeFor = 64;     // tokens that must be alike from there on
std::optional<Resumption> resumption(std::span<const int> a, std::span<const int> b,
                                     std::size_t at);

// The tokens of the prompts that came last. In memory only, and bounded: the oldest of a domain go
// at kOfDomain, those of a model at kOfModel, and the model that was silent longest at kModels. Of
// a prompt that is longer than kLongest its beginning is kept. Belongs to the loop.
class RecentPrompts {
 public:
  static constexpr std::size_t kOfDomain = 64;
  static constexpr Bytes kOfModel{std::uint64_t{4} << 20};
  static constexpr std::size_t kModels = 16;
  static constexpr std::size_t kLongest = std::size_t{1} << 18;  // tokens

  // Of the source's domain, newest first. Valid until the next call that is not const.
  std::vector<std::span<const int>> of(const PromptSource& source) const;

  // A prompt that is there already becomes the newest.
  void add(const PromptSource& source, std::span<const int> tokens);

  // All of a model, or of one group there; an empty model: of every one.
  void forget(const std::string& model, const std::optional<std::string>& group);

  Bytes size() const;

 private:
  struct Kept {
    std::string domain;
    std::string group;
    std::vector<int> tokens;
    Bytes size() const;
  };
  struct OfModel {
    std::deque<Kept> prompts;  // oldest first
    Bytes size;
    std::uint64_t used = 0;
  };
  static void drop(OfModel& model, std::deque<Kept>::iterator prompt);
  static void shrink(OfModel& model, const std::string& domain);
  void drop_silent_models();

  std::map<std::string, OfModel> models_;
  std::uint64_t clock_ = 0;
};

// The earlier prompt that has the most in common with `tokens`; among equals one that the prompt
// continues, or that continues it, then the newest.
struct NearestPrompt {
  std::span<const int> tokens;
  std::size_t common = 0;
};
std::optional<NearestPrompt> nearest_of(std::span<const std::span<const int>> earlier,
                                        std::span<const int> tokens);

// Where the prompt leaves the nearest earlier one. Nothing when one continues the other, and when
// they have nothing in common: neither a beginning nor what follows the difference.
std::optional<wire::PrefixPlanMessage::Difference> difference_of(const NearestPrompt& nearest,
                                                                 std::span<const int> tokens);

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/prefix_reasons/recent_prompts.h"
#include "wire/prefix_messages.h"

namespace hearth::front {

// A place near the beginning of a model's prompts that is another one in every request (a date, a
// fresh id, a billing line), so that all that follows it is evaluated anew although it is alike.
struct VolatileHead {
  std::string model;             // its artifact
  int position = 0;              // token
  std::optional<int> character;  // in bytes of the prompt's text; once a reply has told it
  std::string had;               // what stood there in the earlier prompt; likewise
  std::string has;               // and in the last one
  int requests = 0;              // with something else at this place
};

// Finds them. A finding takes kVariants prompts of one domain that begin alike, differ pairwise at
// about the same place (within kResumeWithin tokens) in the first three quarters of the shorter
// one, and are alike again soon after it for kResumeFor tokens. So a conversation that grows, or
// different questions after the same system prompt, are none.
//
// Bounded to kMost findings; the one that was not seen for longest goes first. Deterministic.
// Belongs to the loop.
class VolatileHeads {
 public:
  static constexpr int kVariants = 3;
  static constexpr std::size_t kMost = 64;

  // A new prompt, and the earlier ones of its domain, newest first. Whether it has such a place.
  bool look(const PromptSource& source, std::span<const int> tokens,
            std::span<const std::span<const int>> earlier);

  // What the worker found at the place where the prompt left the nearest one.
  void note_texts(const PromptSource& source, const wire::PrefixOutcome::Difference& texts);

  // In order of model and place. Of several groups that found the same, one with all requests.
  std::vector<VolatileHead> list() const;

  // All of a model, or of one group there; an empty model: of every one.
  void forget(const std::string& model, const std::optional<std::string>& group);

 private:
  struct Found {
    PromptSource source;
    VolatileHead head;
    std::uint64_t seen = 0;
  };
  Found* find(const PromptSource& source, int position);
  void add(const PromptSource& source, int position);

  std::vector<Found> found_;
  std::uint64_t clock_ = 0;
};

// The sentence, with the model's name in place of its artifact, and what to do about it.
std::string text_of(const VolatileHead& head, std::string_view model);
std::string_view remedy_for_volatile_heads();

}  // namespace hearth::front

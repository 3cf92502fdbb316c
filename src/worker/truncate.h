// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/tokens.h"

// How a prompt that is too long is shortened. Pure: whoever asks brings the roles, and a function
// that renders and counts.
namespace hearth::worker {

// A message as far as shortening needs to know it.
struct MessageSketch {
  enum class Role { kSystem, kUser, kAssistant, kOther };
  Role role = Role::kUser;
  std::size_t bytes = 0;  // of its text
};

// One way to shorten a conversation: the leading system messages stay, then `user` if it is set,
// then everything from `from` on.
struct Cut {
  std::size_t systems = 0;
  std::optional<std::size_t> user;
  std::size_t from = 0;

  bool keeps(std::size_t message) const {
    return message < systems || message >= from || user == message;
  }
  friend bool operator==(const Cut&, const Cut&) = default;
};

// All ways, from the one that drops nothing to the one that leaves least. What is left begins with
// a user's message as long as there is one: first whole turns go, oldest first; then, of a last
// turn that is too long by itself, the steps between the user's message and the end (an assistant's
// message and the results of the tools it called are one step). Only what comes after `preferred`
// leaves out the user's message too, or a call whose result is kept.
struct Cuts {
  std::vector<Cut> list;
  std::size_t preferred = 1;
};
Cuts ways_to_cut(const std::vector<MessageSketch>& messages);

// Tokens that the conversation has when it is cut so.
using CountTokens = std::function<Result<int>(const Cut&)>;

// `most` is what a prompt may have. One that has more is cut down to `wanted`, which is less, so
// that there is room to answer.
struct PromptRoom {
  int most = 0;
  int wanted = 0;
};

// A quarter of the context, or what the reply may have if that is less; at least one token. The
// last token of a reply takes no cell, so a prompt may fill the context and still get one.
PromptRoom prompt_room(int context_limit, int max_tokens);

// The cut that drops least: nothing if `room.most` takes it all, else the first that fits `wanted`,
// else one that fits `most`. Counts only about a dozen of them, and none far larger than what fits.
// Errors: kTooLong with the tokens of the smallest one; what `count` says of one that has a user's
// message, or drops nothing.
Result<Cut> choose_cut(const std::vector<MessageSketch>& messages, PromptRoom room,
                       const CountTokens& count);

Error too_long(int tokens, int limit);

// Leaves `limit` tokens: the first `head` of them and the newest. Returns how many are gone.
int cut_middle(std::vector<engine::Token>& tokens, int head, int limit);

}  // namespace hearth::worker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/generation.h"

// Requests that want several replies to one prompt.
namespace hearth::api {

// One of several replies, whole.
struct Choice {
  Collected reply;
  front::Finished end;
};

// How several replies look, whole or as pieces of one stream. As ReplyFormat, one object for each
// request, used in order.
class ChoicesFormat {
 public:
  virtual ~ChoicesFormat() = default;

  // `total` counts what all choices together took.
  virtual std::string whole(const std::vector<Choice>& choices, const front::Finished& total) = 0;

  // Server-sent events.
  virtual void append_first(std::string& out, int index) = 0;
  virtual void append_delta(std::string& out, int index, const front::Delta& delta) = 0;
  virtual void append_choice_end(std::string& out, int index, const front::Finished& end) = 0;
  virtual void append_end(std::string& out, const front::Finished& total) = 0;
  virtual void append_error(std::string& out, const front::Refused& refused) = 0;
};

using MakeChoicesFormat = std::function<std::unique_ptr<ChoicesFormat>(ReplyIdentity)>;

// `asked` replies are sent, out of `written`; more are written than sent only where the reply is
// whole, and then those are sent whose tokens were likeliest on average.
struct ChoiceCount {
  int asked = 1;
  int written = 1;
  bool tells_logprobs = true;  // false: they were only needed to choose by

  bool single() const { return written == 1; }
};
inline constexpr int kMostChoices = 16;

// Runs as many requests of the front as there are choices, at once, so that their common prompt is
// evaluated once. One that fails ends them all. Where more are written than sent, the request must
// ask for log probabilities. call.options.loop must be set.
Task<void> serve_choices(Call call, GenerateCall request, ChoiceCount count,
                         MakeChoicesFormat make_format);

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/anthropic/tools.h"
#include "api/reply_format.h"

namespace hearth::api::anthropic {

// What of a request decides how its reply is told.
struct ReplyRules {
  enum class Thinking { kShown, kOmitted };
  enum class Caching { kUnasked, kAsked };

  std::vector<std::string> stops;  // the client's own: others are no stop_sequence
  int max_tokens = -1;
  // Where they are forbidden, the first call alone is passed on.
  ParallelCalls parallel_calls = ParallelCalls::kAllowed;
  Thinking thinking = Thinking::kShown;
  // Where the client marked what shall be kept, what was evaluated counts as written to the cache.
  Caching caching = Caching::kUnasked;
};

// /v1/messages. Pure.
std::unique_ptr<ReplyFormat> message_format(ReplyIdentity identity, ReplyRules rules);

}  // namespace hearth::api::anthropic

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "api/choices.h"
#include "api/reply_format.h"
#include "api/tool_calls.h"

namespace hearth::api::openai {

// The chunk without choices that has the token counts: for those who asked for it.
enum class UsageChunk { kNo, kYes };

// /v1/chat/completions and /v1/completions. Pure.
std::unique_ptr<ReplyFormat> chat_format(ReplyIdentity identity, UsageChunk usage,
                                         ParallelCalls parallel = ParallelCalls::kAllowed);
std::unique_ptr<ReplyFormat> text_format(const ReplyIdentity& identity, UsageChunk usage);

// The same for several choices.
std::unique_ptr<ChoicesFormat> chat_choices(ReplyIdentity identity, UsageChunk usage,
                                            ParallelCalls parallel = ParallelCalls::kAllowed);
std::unique_ptr<ChoicesFormat> text_choices(const ReplyIdentity& identity, UsageChunk usage);

std::string usage_json(const front::Finished& end);

// llama-server's `timings`: prompt_n counts what was evaluated, cache_n what was not.
std::string timings_json(const front::Finished& end);

}  // namespace hearth::api::openai

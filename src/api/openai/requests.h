// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>

#include "api/choices.h"
#include "api/generation.h"
#include "api/model_defaults.h"
#include "api/openai/reply_format.h"
#include "base/result.h"
#include "wire/messages.h"

// Bodies of the /v1 routes, read. Pure. Errors are kInvalid and name the member at fault by its
// path. Members that nobody here knows are passed over, as clients of many servers send many; those
// whose silence would change the answer (images, suffix, ...) are refused by name.
namespace hearth::api::openai {

struct ChatCall {
  GenerateCall generate;
  UsageChunk usage = UsageChunk::kNo;
  ChoiceCount choices = {};
  ParallelCalls parallel_calls = ParallelCalls::kAllowed;
};

struct EmbedCall {
  RequestOptions options;
  wire::EmbedMessage message;
  bool base64 = false;  // little-endian float32, as the official clients ask for it
  int dimensions = 0;   // 0: the client did not say
};

Result<ChatCall> parse_chat(const boost::json::object& body, const ModelDefaults& defaults = {});
Result<ChatCall> parse_completion(const boost::json::object& body,
                                  const ModelDefaults& defaults = {});
Result<EmbedCall> parse_embedding(const boost::json::object& body);

}  // namespace hearth::api::openai

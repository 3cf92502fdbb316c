// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "http/message.h"

namespace hearth::api {

// Which clients read the answer, and so the shape that its errors have.
enum class Dialect {
  kOpenAi,     // {"error":{"message","type","param","code"}}, code being the HTTP status
  kAnthropic,  // {"type":"error","error":{"type","message"},"request_id"}
  kOllama,     // {"error":"message"}
  kHearth,     // {"error":{"message","type","field"}}
  kResponses,  // OpenAI's shape; members have other names than in chats
};

std::string_view name_of(
    Dialect dialect);  // "openai", "anthropic", "ollama", "hearth"; kResponses is "openai"

// By the path; under /v1 also by the `anthropic-version` header, which its clients always send.
Dialect dialect_of(const http::HttpRequest& request);

}  // namespace hearth::api

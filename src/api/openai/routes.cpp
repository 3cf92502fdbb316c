// SPDX-License-Identifier: Apache-2.0
#include "api/fields.h"
#include "api/openai/generate.h"
#include "api/openai/openai.h"

namespace hearth::api::openai {
namespace {

using Parse = Result<GenerateCall> (*)(const boost::json::object&);

Result<GenerateCall> parsed(const std::string& body, Parse parse) {
  auto object = parse_body(body);
  if (!object) return Failed{std::move(object).error()};
  return parse(*object);
}

}  // namespace

Task<void> chat_completions(Call call) {
  auto request = parsed(call.request().body, parse_chat);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  co_await serve_generate(std::move(call), std::move(*request), ReplyFormat::chat);
}

Task<void> completions(Call call) {
  auto request = parsed(call.request().body, parse_completion);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  co_await serve_generate(std::move(call), std::move(*request), ReplyFormat::text);
}

}  // namespace hearth::api::openai

// SPDX-License-Identifier: Apache-2.0
#include "api/fields.h"
#include "api/generation.h"
#include "api/openai/openai.h"
#include "api/openai/requests.h"

namespace hearth::api::openai {
namespace {

using Parse = Result<ChatCall> (*)(const boost::json::object&);

Result<ChatCall> parsed(const std::string& body, Parse parse) {
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
  MakeFormat format = [usage = request->usage](ReplyIdentity identity) {
    return chat_format(std::move(identity), usage);
  };
  co_await serve_generate(std::move(call), std::move(request->generate), std::move(format));
}

Task<void> completions(Call call) {
  auto request = parsed(call.request().body, parse_completion);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  MakeFormat format = [usage = request->usage](const ReplyIdentity& identity) {
    return text_format(identity, usage);
  };
  co_await serve_generate(std::move(call), std::move(request->generate), std::move(format));
}

}  // namespace hearth::api::openai

// SPDX-License-Identifier: Apache-2.0
#include "api/generation.h"
#include "api/openai/openai.h"
#include "api/openai/requests.h"
#include "api/read_body.h"

namespace hearth::api::openai {
Task<void> chat_completions(Call call) {
  auto request = read_body(call, parse_chat);
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
  auto request = read_body(call, parse_completion);
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

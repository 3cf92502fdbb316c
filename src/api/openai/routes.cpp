// SPDX-License-Identifier: Apache-2.0
#include "api/choices.h"
#include "api/generation.h"
#include "api/openai/openai.h"
#include "api/openai/requests.h"
#include "api/read_body.h"

namespace hearth::api::openai {
namespace {

Task<void> serve(Call call, ChatCall request, MakeFormat format, MakeChoicesFormat choices) {
  const ChoiceCount count = request.choices;
  return count.single()
             ? serve_generate(std::move(call), std::move(request.generate), std::move(format))
             : serve_choices(std::move(call), std::move(request.generate), count,
                             std::move(choices));
}

}  // namespace

Task<void> chat_completions(Call call) {
  auto request = read_body(call, parse_chat);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  const ParallelCalls parallel = request->parallel_calls;
  MakeFormat format = [usage = request->usage, parallel](ReplyIdentity identity) {
    return chat_format(std::move(identity), usage, parallel);
  };
  MakeChoicesFormat choices = [usage = request->usage, parallel](ReplyIdentity identity) {
    return chat_choices(std::move(identity), usage, parallel);
  };
  co_await serve(std::move(call), std::move(*request), std::move(format), std::move(choices));
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
  MakeChoicesFormat choices = [usage = request->usage](const ReplyIdentity& identity) {
    return text_choices(identity, usage);
  };
  co_await serve(std::move(call), std::move(*request), std::move(format), std::move(choices));
}

}  // namespace hearth::api::openai

// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/anthropic.h"
#include "api/anthropic/requests.h"
#include "api/generation.h"
#include "api/read_body.h"
#include "timeline/json_writer.h"

namespace hearth::api::anthropic {
namespace {

std::string count_body(int tokens) { return JsonWriter{}.integer("input_tokens", tokens).object(); }

}  // namespace

Task<void> messages(Call call) {
  auto request = read_body(call, parse_messages);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  MakeFormat format = [rules = std::move(request->rules)](ReplyIdentity identity) {
    return message_format(std::move(identity), rules);
  };
  co_await serve_generate(std::move(call), std::move(request->generate), std::move(format));
}

Task<void> count_tokens(Call call) {
  auto request = read_body(call, parse_count);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  co_await serve_count(std::move(call), std::move(request->generate), count_body);
}

}  // namespace hearth::api::anthropic

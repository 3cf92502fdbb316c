// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"

namespace hearth::api::admin {
namespace {

front::PromptTexts texts_for(const Call& call) {
  return audience_of(call) == Audience::kAdmin ? front::PromptTexts::kTold
                                               : front::PromptTexts::kWithheld;
}

}  // namespace

Task<void> show_prefix(Call call) {
  auto response = http::HttpResponse::json(200, call.service.prefix(texts_for(call)));
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_doctor(Call call) {
  auto response = http::HttpResponse::json(200, call.service.doctor(texts_for(call)));
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::admin

// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"
#include "api/errors.h"
#include "api/fields.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

struct KeyCall {
  std::string name;
  front::Role role = front::Role::kUse;
};

Result<KeyCall> parse_key_call(const std::string& text) {
  auto object = parse_body(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  const Fields body{*object, "", error};
  KeyCall call{body.required_text("name"), {}};
  const auto role = front::role_named(body.required_text("role"));
  if (role) {
    call.role = *role;
  } else {
    body.fail("role", "must be use, read-only or admin");
  }
  if (error) return Failed{std::move(*error)};
  return call;
}

JsonWriter key_json(const front::KeyInfo& key) {
  JsonWriter out;
  out.string("id", key.id).string("name", key.name).string("role", front::name_of(key.role));
  out.integer("created_at_us", key.created_at_us);
  return out;
}

Task<void> respond(Call call, http::HttpResponse response) {
  (void)co_await call.exchange.respond(std::move(response));
}

http::HttpResponse refusal(const Call& call, const Error& error) {
  return error_response(Dialect::kHearth, audience_of(call), error);
}

}  // namespace

Task<void> list_keys(Call call) {
  std::string list = "[";
  for (const front::KeyRing::Kept& key : call.service.keys().keys()) {
    if (list.size() > 1) list += ',';
    list += key_json(key.info).object();
  }
  list += ']';
  co_await respond(call, http::HttpResponse::json(200, JsonWriter{}.raw("keys", list).object()));
}

Task<void> add_key(Call call) {
  auto request = parse_key_call(call.request().body);
  if (!request) {
    co_await respond(call, refusal(call, request.error()));
    co_return;
  }
  const auto key = co_await call.service.add_key(std::move(request->name), request->role);
  if (!key) {
    co_await respond(call, refusal(call, key.error()));
    co_return;
  }
  auto response =
      http::HttpResponse::json(200, key_json(key->info).string("secret", key->secret).object());
  response.headers.push_back({"Cache-Control", "no-store"});
  co_await respond(call, std::move(response));
}

Task<void> remove_key(Call call) {
  const auto removed = co_await call.service.remove_key(call.argument);
  auto response = removed ? http::HttpResponse::json(
                                200, JsonWriter{}.string("removed", call.argument).object())
                          : refusal(call, removed.error());
  co_await respond(call, std::move(response));
}

}  // namespace hearth::api::admin

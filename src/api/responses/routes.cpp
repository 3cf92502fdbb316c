// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>

#include "api/errors.h"
#include "api/fields.h"
#include "api/generation.h"
#include "api/responses/input_page.h"
#include "api/responses/items.h"
#include "api/responses/kept_responses.h"
#include "api/responses/reply_format.h"
#include "api/responses/requests.h"
#include "api/responses/responses.h"
#include "base/json.h"
#include "timeline/json_writer.h"

namespace hearth::api::responses {
namespace json = boost::json;
namespace {

// A request whose earlier turns have been read.
struct Asked {
  json::object body;
  Earlier earlier;
};

Failed nothing_kept(const std::string& id) {
  return fail(ErrorCode::kNotFound, "there is no response \"" + id + "\"");
}

Error not_to_go_on_from(const Error& error) {
  const bool is_missing = error.code() == ErrorCode::kNotFound;
  return Error{is_missing ? ErrorCode::kInvalid : error.code(), error.message()}.at(
      "previous_response_id");
}

Result<Earlier> items_of(const std::vector<StoredResponse>& turns) {
  Earlier earlier;
  for (const StoredResponse& turn : turns) {
    auto input = parse_json(turn.input);
    auto body = parse_json(turn.body);
    if (!input || !input->is_array() || !body || !body->is_object()) {
      return Failed{Error{ErrorCode::kCorrupt, "what was kept of it cannot be read"}};
    }
    earlier.push_back(std::move(input->get_array()));
    earlier.push_back(body->at("output").as_array());
  }
  return earlier;
}

Task<Result<Asked>> read_asked(Call call) {
  auto body = parse_body(call.request().body);
  if (!body) co_return Failed{std::move(body).error()};
  Asked asked;
  asked.body = std::move(*body);
  const json::value* previous = asked.body.if_contains("previous_response_id");
  if (previous == nullptr || !previous->is_string()) co_return asked;
  std::string id{std::string_view{previous->get_string()}};
  KeptResponses* kept = call.options.responses;
  if (kept == nullptr) co_return Failed{not_to_go_on_from(nothing_kept(id).value())};
  const auto turns = co_await kept->conversation(call.caller.key, std::move(id));
  if (!turns) co_return Failed{not_to_go_on_from(turns.error())};
  auto earlier = items_of(*turns);
  if (!earlier) co_return Failed{not_to_go_on_from(earlier.error())};
  asked.earlier = std::move(*earlier);
  co_return asked;
}

using Parse = Result<ResponseCall> (*)(const json::object&, const Earlier&, const ModelDefaults&);

Task<Result<ResponseCall>> read_call(Call call, Parse parse) {
  auto asked = co_await read_asked(call);
  if (!asked) co_return Failed{std::move(asked).error()};
  co_return parse(asked->body, asked->earlier, ModelDefaults{call.service});
}

KeepResponse keeper_of(const Call& call, const ResponseCall& request) {
  KeptResponses* kept = call.options.responses;
  if (!request.store || kept == nullptr) return {};
  return [kept, key = call.caller.key, previous = request.previous,
          input = request.input](const json::object& response) {
    const std::string id{std::string_view{response.at("id").as_string()}};
    const std::string_view request_id = std::string_view{id}.substr(id.find('_') + 1);
    kept->keep({id, key, previous, json::serialize(response),
                json::serialize(listed_items(input, request_id))});
  };
}

Task<Result<StoredResponse>> find(Call call) {
  KeptResponses* kept = call.options.responses;
  if (kept == nullptr) co_return nothing_kept(call.argument);
  auto found = co_await kept->get(call.caller.key, call.argument);
  co_return std::move(found);
}

Task<void> answer(Call call, Result<std::string> body) {
  if (!body) {
    co_await refuse(std::move(call), std::move(body).error());
    co_return;
  }
  auto response = http::HttpResponse::json(200, std::move(*body));
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace

Task<void> create(Call call) {
  auto request = co_await read_call(call, parse_response);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  ReplyRules rules;
  rules.keep = keeper_of(call, *request);
  rules.output = request->output;
  rules.echoed = std::move(request->echoed);
  MakeFormat format = [rules = std::move(rules)](ReplyIdentity identity) {
    return response_format(std::move(identity), rules);
  };
  co_await serve_generate(std::move(call), std::move(request->generate), std::move(format));
}

std::string count_body(int tokens) {
  JsonWriter out;
  out.string("object", "response.input_tokens").integer("input_tokens", tokens);
  return out.object();
}

Task<void> count(Call call) {
  auto request = co_await read_call(call, parse_count);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  co_await serve_count(std::move(call), std::move(request->generate), count_body);
}

Task<void> show(Call call) {
  if (call.request().parameter("stream") == "true") {
    Error error{ErrorCode::kInvalid, "stream: what was kept is not streamed again"};
    co_await refuse(std::move(call), std::move(error).at("stream"));
    co_return;
  }
  auto found = co_await find(call);
  Result<std::string> body =
      std::move(found).map([](StoredResponse&& kept) { return std::move(kept.body); });
  co_await answer(std::move(call), std::move(body));
}

Task<void> list_input(Call call) {
  const auto found = co_await find(call);
  Result<std::string> page = found.and_then(
      [&call](const StoredResponse& kept) { return input_page(kept.input, call.request()); });
  co_await answer(std::move(call), std::move(page));
}

Task<void> remove(Call call) {
  KeptResponses* kept = call.options.responses;
  Result<> removed = nothing_kept(call.argument);
  if (kept != nullptr) removed = co_await kept->remove(call.caller.key, call.argument);
  Result<std::string> body = removed.map([&call] {
    JsonWriter out;
    out.string("id", call.argument).string("object", "response").yes_or_no("deleted", true);
    return out.object();
  });
  co_await answer(std::move(call), std::move(body));
}

}  // namespace hearth::api::responses

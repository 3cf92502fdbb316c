// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <charconv>

#include "api/admin/admin.h"
#include "api/admin/history_query.h"
#include "api/errors.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {

Result<HistoryQuery> parse_history_query(const http::HttpRequest& request) {
  HistoryQuery query;
  query.before = request.parameter("before").value_or("");
  query.model = request.parameter("model").value_or("");
  const auto limit = request.parameter("limit");
  if (!limit) return query;
  const char* end = limit->data() + limit->size();
  const auto [stop, error] = std::from_chars(limit->data(), end, query.limit);
  if (error != std::errc{} || stop != end || query.limit < 1 || query.limit > kMaxHistory) {
    return Failed{
        Error{ErrorCode::kInvalid, "limit: a number from 1 to 1000 is expected"}.at("limit")};
  }
  return query;
}

Task<void> list_requests(Call call) {
  auto query = parse_history_query(call.request());
  if (!query) {
    auto response = error_response(Dialect::kHearth, audience_of(call), query.error());
    (void)co_await call.exchange.respond(std::move(response));
    co_return;
  }
  const auto entries = co_await call.service.history(std::move(*query));
  if (!entries) {
    auto response = error_response(Dialect::kHearth, audience_of(call), entries.error());
    (void)co_await call.exchange.respond(std::move(response));
    co_return;
  }
  std::string list = "[";
  for (const std::string& entry : *entries) {
    if (list.size() > 1) list += ',';
    list += entry;
  }
  list += ']';
  auto response = http::HttpResponse::json(200, JsonWriter{}.raw("requests", list).object());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_request(Call call) {
  const auto entry = co_await call.service.history_entry(call.argument);
  auto response = entry ? http::HttpResponse::json(200, *entry)
                        : error_response(Dialect::kHearth, audience_of(call), entry.error());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> list_running(Call call) {
  auto response = http::HttpResponse::json(200, call.service.running());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> version(Call call) {
  boost::json::object about = boost::json::parse(call.service.about()).as_object();
  about["role"] = front::name_of(call.caller.role);
  auto response = http::HttpResponse::json(200, boost::json::serialize(about));
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::admin

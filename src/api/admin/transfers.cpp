// SPDX-License-Identifier: Apache-2.0
//
// Pulls, verification, and what tidies up after them.
#include "api/transfers.h"

#include "api/admin/admin.h"
#include "api/admin/transfer_format.h"
#include "api/admin/transfer_requests.h"
#include "api/errors.h"
#include "api/generation.h"
#include "api/model_json.h"
#include "api/read_body.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

Task<void> respond(Call call, http::HttpResponse response) {
  (void)co_await call.exchange.respond(std::move(response));
}

std::string pull_json(const front::PullStatus& pull, Audience audience) {
  JsonWriter out;
  out.string("source", shown_source(pull.source, audience)).string("name", pull.name);
  out.string("state", pull.state);
  if (!pull.reason.empty()) {
    out.string("reason",
               audience == Audience::kAdmin ? pull.reason : without_directories(pull.reason));
  }
  out.integer("done_bytes", pull.done).integer("total_bytes", pull.total);
  out.number("bytes_per_s", pull.bytes_per_s).integer("touched_us", pull.touched_us);
  return out.integer("waiting", pull.waiting).object();
}

std::string prunable_json(const front::Prunable& item) {
  JsonWriter out;
  out.string("kind", item.kind).string("what", item.what).string("why", item.why);
  return out.integer("bytes", item.bytes).object();
}

std::string pruned_json(const std::vector<front::Prunable>& items, front::Service::Prune what) {
  std::string list;
  std::int64_t bytes = 0;
  for (const front::Prunable& item : items) {
    list += (list.empty() ? "" : ",") + prunable_json(item);
    bytes += item.bytes;
  }
  JsonWriter out;
  out.yes_or_no("dry_run", what == front::Service::Prune::kShow).integer("bytes", bytes);
  return out.raw("items", "[" + list + "]").object();
}

}  // namespace

Task<void> pull(Call call) {
  auto request = read_body(call.request().body, parse_pull);
  if (!request) return refuse(std::move(call), std::move(request).error());
  auto transfer = call.service.pull(std::move(request->pull));
  auto format = transfer_format(call);
  return serve_transfer(std::move(call), std::move(transfer), std::move(format), request->options);
}

Task<void> verify(Call call) {
  auto request = parse_verify(call.request().body);
  if (!request) return refuse(std::move(call), std::move(request).error());
  auto transfer = call.service.verify(std::move(request->verify));
  auto format = transfer_format(call);
  return serve_transfer(std::move(call), std::move(transfer), std::move(format), request->options);
}

Task<void> list_pulls(Call call) {
  std::string list;
  for (const front::PullStatus& pull : call.service.pulls()) {
    list += (list.empty() ? "" : ",") + pull_json(pull, audience_of(call));
  }
  auto response =
      http::HttpResponse::json(200, JsonWriter{}.raw("pulls", "[" + list + "]").object());
  return respond(std::move(call), std::move(response));
}

Task<void> stop_pull(Call call) {
  auto request = read_body(call.request().body, parse_stop);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  const auto stopped = co_await call.service.stop_pull(request->name, request->parts);
  JsonWriter out;
  out.string("stopped", request->name);
  out.yes_or_no("dropped", request->parts == front::Service::Parts::kDrop);
  auto response = stopped ? http::HttpResponse::json(200, out.object())
                          : error_response(call.dialect, audience_of(call), stopped.error());
  co_await respond(call, std::move(response));
}

Task<void> prune(Call call) {
  const auto what = parse_prune(call.request().body);
  if (!what) {
    co_await refuse(std::move(call), what.error());
    co_return;
  }
  const auto items = co_await call.service.prune(*what);
  auto response = items ? http::HttpResponse::json(200, pruned_json(*items, *what))
                        : error_response(call.dialect, audience_of(call), items.error());
  co_await respond(call, std::move(response));
}

Task<void> rescan(Call call) {
  const auto looked = co_await call.service.rescan();
  if (!looked) {
    co_await refuse(std::move(call), looked.error());
    co_return;
  }
  co_await list_models(std::move(call));
}

}  // namespace hearth::api::admin

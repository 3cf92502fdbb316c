// SPDX-License-Identifier: Apache-2.0
//
// /api/blobs: what a model is to be made of, sent here before.
#include <charconv>

#include "api/errors.h"
#include "api/generation.h"
#include "api/ollama/ollama.h"

namespace hearth::api::ollama {
namespace {

constexpr std::size_t kGathered = std::size_t{1} << 20;  // of a body, for one write

Task<void> respond(Call call, int status) {
  http::HttpResponse response;
  response.status = status;
  (void)co_await call.exchange.respond(std::move(response));
}

Bytes announced_size(const http::HttpRequest& request) {
  const std::string_view text = request.header("Content-Length").value_or("0");
  std::uint64_t size = 0;
  std::from_chars(text.data(), text.data() + text.size(), size);
  return Bytes{size};
}

// The next piece of the body, large enough to be worth a write; empty at its end.
Task<Result<std::string>> gather(http::Exchange& exchange) {
  std::string gathered;
  while (gathered.size() < kGathered) {
    Result<std::string> piece = co_await exchange.next_body_chunk();
    if (!piece) co_return piece;
    if (piece->empty()) break;
    gathered += *piece;
  }
  co_return gathered;
}

// Most clients only listen when they have sent everything; those that wait for an invitation are
// told at once.
Task<Result<>> hear_out(http::Exchange& exchange) {
  if (exchange.request().header("Expect")) co_return Result<>{};
  Result<std::string> piece = co_await exchange.next_body_chunk();
  while (piece && !piece->empty()) piece = co_await exchange.next_body_chunk();
  if (!piece) co_return Failed{std::move(piece).error()};
  co_return Result<>{};
}

enum class Body { kRead, kBroken };  // a broken one is the HTTP server's to answer

struct Received {
  Body body = Body::kRead;
  Result<> kept;
};

Task<Received> receive(http::Exchange& exchange, front::BlobUpload& upload) {
  Received received;
  bool more = true;
  while (more) {
    Result<std::string> piece = co_await gather(exchange);
    if (!piece) received.body = Body::kBroken;
    if (!piece) break;
    more = !piece->empty();
    if (more) {
      received.kept = co_await upload.write(std::move(*piece));
    } else {
      received.kept = co_await upload.finish();
    }
    more = more && received.kept;
  }
  co_return received;
}

}  // namespace

Task<void> show_blob(Call call) {
  const auto size = co_await call.service.blob(call.argument);
  if (size) {
    co_await respond(call, 200);
  } else {
    co_await refuse(std::move(call), size.error());
  }
}

Task<void> add_blob(Call call) {
  const auto there = co_await call.service.blob(call.argument);
  if (there) {
    const Result<> heard = co_await hear_out(call.exchange);
    if (heard) co_await respond(call, 200);
    co_return;
  }
  auto upload = co_await call.service.receive_blob(call.argument, announced_size(call.request()));
  if (!upload) {
    co_await refuse(std::move(call), upload.error());
    co_return;
  }
  const Received received = co_await receive(call.exchange, **upload);
  if (received.body == Body::kBroken) co_return;
  if (!received.kept) {
    co_await refuse(std::move(call), received.kept.error());
    co_return;
  }
  co_await respond(call, 201);
}

}  // namespace hearth::api::ollama

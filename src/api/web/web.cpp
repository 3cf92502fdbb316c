// SPDX-License-Identifier: Apache-2.0
#include "api/web/web.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/errors.h"
#include "api/web/web_assets.h"

namespace hearth::api::web {
namespace {

// A page can only run, show and call what comes from this server, and nobody can put it into a
// frame. Styles are set through the document's objects, which is no inline style.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

bool takes_gzip(const http::HttpRequest& request) {
  const auto accepted = request.header("Accept-Encoding");
  if (!accepted) return true;
  return accepted->find("gzip") != std::string_view::npos ||
         accepted->find('*') != std::string_view::npos;
}

http::Headers headers_of(const WebAsset& asset) {
  return {{"ETag", std::string{asset.etag}},     {"Cache-Control", "no-cache"},
          {"Vary", "Accept, Accept-Encoding"},   {"Content-Security-Policy", kPolicy},
          {"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},    {"Cross-Origin-Opener-Policy", "same-origin"}};
}

}  // namespace

bool wants_page(const http::HttpRequest& request) {
  return request.header("Accept").value_or("").find("text/html") != std::string_view::npos;
}

http::HttpResponse file_answer(const http::HttpRequest& request, std::string_view path) {
  const auto assets = web_assets();
  const auto asset = std::ranges::find(assets, path, &WebAsset::path);
  if (asset == assets.end()) return route_error(Dialect::kHearth, 404, "there is no such file");
  http::HttpResponse response{200, headers_of(*asset), {}};
  const auto known = request.header("If-None-Match").value_or("");
  if (known.find(asset->etag) != std::string_view::npos) {
    response.status = 304;
    return response;
  }
  if (!takes_gzip(request)) {
    return route_error(Dialect::kHearth, 406, "this file is only here in gzip's form");
  }
  response.headers.push_back({"Content-Type", std::string{asset->type}});
  response.headers.push_back({"Content-Encoding", "gzip"});
  response.body.assign(asset->gzip.begin(), asset->gzip.end());
  return response;
}

Task<void> file(Call call) {
  auto response = file_answer(call.request(), call.argument);
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::web

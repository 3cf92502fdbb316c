// SPDX-License-Identifier: Apache-2.0
#include "api/cors.h"

#include <algorithm>
#include <cctype>

namespace hearth::api {
namespace {

constexpr const char* kMethods = "GET, HEAD, POST, PUT, DELETE";
constexpr const char* kExposed =
    "X-Request-Id, request-id, X-Hearth-Class, X-Hearth-Cold-Layer, X-Hearth-Truncated, "
    "Server-Timing, Retry-After, traceparent";
constexpr const char* kUsualHeaders =
    "Authorization, Content-Type, Accept, Prefer, x-api-key, anthropic-version";
constexpr const char* kMaxAgeSeconds = "3600";

bool is_list_of_names(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view{"-_., "}.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

http::Headers cors_headers(const std::string& origin) {
  http::Headers headers{{"Vary", "Origin"}};
  if (origin.empty()) return headers;
  headers.push_back({"Access-Control-Allow-Origin", origin});
  headers.push_back({"Access-Control-Expose-Headers", kExposed});
  return headers;
}

bool is_preflight(const http::HttpRequest& request) {
  return request.method == "OPTIONS" && request.header("Origin") &&
         request.header("Access-Control-Request-Method");
}

http::HttpResponse preflight_answer(const http::HttpRequest& request) {
  const auto asked = request.header("Access-Control-Request-Headers").value_or("");
  http::HttpResponse response{204, {}, {}};
  response.headers.push_back({"Access-Control-Allow-Methods", kMethods});
  response.headers.push_back({"Access-Control-Allow-Headers",
                              is_list_of_names(asked) ? std::string{asked} : kUsualHeaders});
  response.headers.push_back({"Access-Control-Max-Age", kMaxAgeSeconds});
  if (request.header("Access-Control-Request-Private-Network") == "true") {
    response.headers.push_back({"Access-Control-Allow-Private-Network", "true"});
  }
  return response;
}

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#include "cli/api_client.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

ErrorCode code_of(int status) {
  switch (status) {
    case 400:
      return ErrorCode::kInvalid;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 422:
      return ErrorCode::kCorrupt;
    case 501:
      return ErrorCode::kUnsupported;
    case 503:
      return ErrorCode::kBusy;
    default:
      return ErrorCode::kInternal;
  }
}

// {"error": {"message": "..."}} or {"error": "..."}; empty otherwise.
std::string message_in(std::string_view body) {
  const auto parsed = parse_json(body);
  if (!parsed || !parsed->is_object()) return {};
  const boost::json::object& answer = parsed->get_object();
  if (const auto* error = object_in(answer, "error")) return text_in(*error, "message");
  return text_in(answer, "error");
}

}  // namespace

Error error_of(int status, std::string_view body) {
  std::string message = message_in(body);
  if (message.empty()) message = fmt::format("the server answered with status {}", status);
  return {code_of(status), std::move(message)};
}

std::string percent_encode(std::string_view text) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Result<ApiClient> ApiClient::to(std::string_view host) {
  auto client = http::Client::to(host, kDefaultPort);
  if (!client) return Failed{std::move(client).error()};
  return ApiClient{std::move(*client)};
}

Result<std::string> ApiClient::get(std::string target) const {
  return call("GET", std::move(target), {});
}

Result<std::string> ApiClient::post(std::string target, std::string body) const {
  return call("POST", std::move(target), std::move(body));
}

Result<std::string> ApiClient::remove(std::string target) const {
  return call("DELETE", std::move(target), {});
}

Result<std::string> ApiClient::call(std::string method, std::string target,
                                    std::string body) const {
  http::Client::Call request;
  request.method = std::move(method);
  request.target = std::move(target);
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  request.body = std::move(body);
  auto response = client_.call(request);
  if (!response) return no_answer(response.error());
  if (response->status >= 300) return Failed{error_of(response->status, response->body)};
  return std::move(response->body);
}

Result<> ApiClient::stream(std::string target, std::string body,
                           const std::function<bool(std::string_view)>& on_bytes) const {
  http::Client::Call request;
  request.method = "POST";
  request.target = std::move(target);
  request.headers.push_back({"Content-Type", "application/json"});
  request.body = std::move(body);
  const auto response = client_.stream(request, on_bytes);
  if (!response) return no_answer(response.error());
  if (response->status >= 300) return Failed{error_of(response->status, response->body)};
  return {};
}

Failed ApiClient::no_answer(const Error& cause) const {
  if (!cause.message().starts_with("connect to ")) {
    return fail(ErrorCode::kUnavailable, "the connection broke: " + cause.message());
  }
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("no Hearth server answers at {}; start one with `hearth serve`", address()));
}

}  // namespace hearth::cli

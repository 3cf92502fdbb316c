// SPDX-License-Identifier: Apache-2.0
#include "cli/api_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

constexpr std::chrono::milliseconds kAMoment{500};
constexpr std::chrono::seconds kSilence{45};

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

Result<ApiClient> ApiClient::to(ServerAddress address) {
  auto client = http::Client::to(address.text(), kDefaultPort);
  if (!client) return Failed{std::move(client).error()};
  return ApiClient{std::move(*client), std::move(address)};
}

std::string api_key(const std::string& flag, const ServerAddress& server,
                    const Environment& environment) {
  if (!flag.empty()) return flag;
  if (std::string ours = environment("HEARTH_API_KEY"); !ours.empty()) return ours;
  return server.is_from_ollama_host() ? environment("OLLAMA_API_KEY") : std::string{};
}

Result<> ApiClient::use_key(std::string key) {
  const bool fits = std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!fits) return fail(ErrorCode::kInvalid, "the API key holds a character that no key has");
  key_ = std::move(key);
  return {};
}

ApiClient ApiClient::hurried() const {
  ApiClient copy = *this;
  copy.hurried_ = true;
  return copy;
}

Result<std::string> ApiClient::get(std::string target) const {
  return call(request("GET", std::move(target), {}));
}

Result<std::string> ApiClient::post(std::string target, std::string body,
                                    http::Headers headers) const {
  http::Client::Call post = request("POST", std::move(target), std::move(body));
  post.headers.insert(post.headers.end(), headers.begin(), headers.end());
  return call(post);
}

Result<std::string> ApiClient::put(std::string target, std::string body) const {
  return call(request("PUT", std::move(target), std::move(body)));
}

Result<std::string> ApiClient::remove(std::string target) const {
  return call(request("DELETE", std::move(target), {}));
}

Result<> ApiClient::stream(std::string target, std::string body,
                           const std::function<bool(std::string_view)>& on_bytes,
                           http::Headers headers) const {
  http::Client::Call post = request("POST", std::move(target), std::move(body));
  post.headers.insert(post.headers.end(), headers.begin(), headers.end());
  const auto response = client_.stream(post, on_bytes);
  if (!response) return no_answer(response.error());
  if (response->status >= 300) return refusal(post, *response);
  return {};
}

Result<> ApiClient::follow(std::string target,
                           const std::function<bool(std::string_view)>& on_bytes) const {
  http::Client::Call get = request("GET", std::move(target), {});
  get.read_timeout = kSilence;
  const auto response = client_.stream(get, on_bytes);
  if (!response) return no_answer(response.error());
  if (response->status >= 300) return refusal(get, *response);
  return {};
}

http::Client::Call ApiClient::request(std::string method, std::string target,
                                      std::string body) const {
  http::Client::Call request;
  request.method = std::move(method);
  request.target = address_.prefix + std::move(target);
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  if (!key_.empty()) request.headers.push_back({"Authorization", "Bearer " + key_});
  request.body = std::move(body);
  if (hurried_) request.connect_timeout = request.read_timeout = kAMoment;
  return request;
}

Result<std::string> ApiClient::call(const http::Client::Call& request) const {
  auto response = client_.call(request);
  if (!response) return no_answer(response.error());
  if (response->status >= 300) return refusal(request, *response);
  return std::move(response->body);
}

Failed ApiClient::no_answer(const Error& cause) const {
  if (!cause.message().starts_with("connect to ")) {
    return fail(ErrorCode::kUnavailable, "the connection broke: " + cause.message());
  }
  const std::string origin = address_.origin.empty() ? "" : " (" + address_.origin + ")";
  const std::string command = address_.start_command();
  return fail(ErrorCode::kUnavailable,
              fmt::format("no Hearth server answers at {}{}; {}", address(), origin,
                          command.empty() ? "start one there with `hearth serve`"
                                          : "start one with `" + command + "`"));
}

// Whoever keeps OLLAMA_HOST for another server hears so, instead of "404" about a path.
Failed ApiClient::refusal(const http::Client::Call& request,
                          const http::HttpResponse& response) const {
  const bool is_ours = request.target.starts_with(address_.prefix + "/api/hearth/");
  if (response.status == 404 && is_ours && message_in(response.body).empty()) {
    const std::string origin = address_.origin.empty() ? "" : " (" + address_.origin + ")";
    return fail(ErrorCode::kUnsupported,
                fmt::format("what answers at {}{} is no Hearth server; name one with --host or "
                            "HEARTH_HOST",
                            address(), origin));
  }
  Error error = error_of(response.status, response.body);
  const bool about_key = response.status == 401 || (response.status == 403 && !key_.empty());
  if (!about_key) return Failed{std::move(error)};
  return fail(error.code(), fmt::format("{}\n{} with --key or HEARTH_API_KEY", error.message(),
                                        key_.empty() ? "Give a key" : "Give another key"));
}

}  // namespace hearth::cli

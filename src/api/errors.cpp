// SPDX-License-Identifier: Apache-2.0
#include "api/errors.h"

#include <algorithm>
#include <array>
#include <string>

#include "timeline/json_writer.h"

namespace hearth::api {
namespace {

struct Shape {
  ErrorCode code;
  int status;
  std::string_view type;
};

constexpr std::array kShapes{
    Shape{ErrorCode::kNotFound, 404, "not_found_error"},
    Shape{ErrorCode::kNoSpace, 503, "unavailable_error"},
    Shape{ErrorCode::kCancelled, 503,
          "unavailable_error"},  // a client still there: we are stopping
    Shape{ErrorCode::kCorrupt, 422, "invalid_model_error"},
    Shape{ErrorCode::kInvalid, 400, "invalid_request_error"},
    Shape{ErrorCode::kTooLong, 400, "exceed_context_size_error"},
    Shape{ErrorCode::kUnsupported, 501, "not_supported_error"},
    Shape{ErrorCode::kBusy, 503, "unavailable_error"},
    Shape{ErrorCode::kConflict, 409, "conflict_error"},
    Shape{ErrorCode::kUnavailable, 503, "unavailable_error"},
    Shape{ErrorCode::kInternal, 500, "server_error"},
};

const Shape& shape_of(ErrorCode code) {
  const auto found =
      std::ranges::find_if(kShapes, [code](const Shape& shape) { return shape.code == code; });
  return found == kShapes.end() ? kShapes.back() : *found;
}

// What the client itself got wrong is told in its own words; those may well hold a slash.
bool may_name_our_files(ErrorCode code) {
  return code != ErrorCode::kInvalid && code != ErrorCode::kTooLong;
}

void add_field(JsonWriter& out, std::string_view key, const Error& error) {
  if (error.field().empty()) {
    out.null(key);
  } else {
    out.string(key, error.field());
  }
}

bool begins_path(std::string_view text, std::size_t at) {
  if (text[at] != '/') return false;
  return at == 0 ||
         std::string_view{" \t\n\"'`(=:[,<"}.find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

Dialect dialect_of(std::string_view path) {
  return path == "/v1" || path.starts_with("/v1/") || path == "/health" ? Dialect::kOpenAi
                                                                        : Dialect::kHearth;
}

int status_of(ErrorCode code) { return shape_of(code).status; }
std::string_view type_of(ErrorCode code) { return shape_of(code).type; }

std::string without_directories(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_path(text, at)) {
      out += text[at];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n\"'`):],>", at), text.size());
    std::string_view path = text.substr(at, end - at);
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    out += path.size() == 1 ? path : path.substr(path.rfind('/') + 1);
    at = end - 1;
  }
  return out;
}

std::string error_json(Dialect dialect, const front::Refused& refused) {
  const Error& error = refused.error;
  JsonWriter out;
  if (dialect == Dialect::kHearth) {
    out.string("message", error.message()).string("type", type_of(error.code()));
    add_field(out, "field", error);
  } else {
    out.string("message", may_name_our_files(error.code()) ? without_directories(error.message())
                                                           : error.message());
    out.string("type", type_of(error.code()));
    add_field(out, "param", error);
    out.integer("code", status_of(error.code()));
  }
  if (error.code() == ErrorCode::kTooLong) {
    out.integer("n_prompt_tokens", error.counts().prompt_tokens);
    out.integer("n_ctx", error.counts().context_tokens);
  }
  if (refused.eta_ms) out.number("eta_ms", *refused.eta_ms);
  return out.object();
}

http::HttpResponse route_error(Dialect dialect, int status, std::string_view message) {
  JsonWriter out;
  out.string("message", message);
  out.string("type", status == 403   ? "permission_error"
                     : status == 404 ? "not_found_error"
                                     : "invalid_request_error");
  out.null(dialect == Dialect::kOpenAi ? "param" : "field");
  if (dialect == Dialect::kOpenAi) out.integer("code", status);
  return http::HttpResponse::json(status, JsonWriter{}.raw("error", out.object()).object());
}

http::HttpResponse error_response(Dialect dialect, const front::Refused& refused) {
  const ErrorCode code = refused.error.code();
  auto response = http::HttpResponse::json(
      status_of(code), JsonWriter{}.raw("error", error_json(dialect, refused)).object());
  if (refused.retry_after_s || code == ErrorCode::kBusy) {
    response.headers.push_back({"Retry-After", std::to_string(refused.retry_after_s.value_or(1))});
  }
  return response;
}

http::HttpResponse error_response(Dialect dialect, const Error& error) {
  const front::Refused refused{error, std::nullopt, std::nullopt, {}};
  return error_response(dialect, refused);
}

}  // namespace hearth::api

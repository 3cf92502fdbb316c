// SPDX-License-Identifier: Apache-2.0
#include "api/errors.h"

#include <algorithm>
#include <array>
#include <string>

#include "timeline/json_writer.h"

namespace hearth::api {
namespace {

constexpr std::string_view kInvalidType = "invalid_request_error";

struct Shape {
  ErrorCode code;
  int status;
  std::string_view type;
  std::string_view when;  // empty where another one says it
};

constexpr std::array kShapes{
    Shape{ErrorCode::kNotFound, 404, "not_found_error",
          "no such model, module, request, blob or key"},
    Shape{ErrorCode::kNoSpace, 503, "unavailable_error", "there is no room for it"},
    // Of a client that is still there.
    Shape{ErrorCode::kCancelled, 503, "unavailable_error", "the server is stopping"},
    Shape{ErrorCode::kCorrupt, 422, "invalid_model_error", "the model's file is broken"},
    Shape{ErrorCode::kInvalid, 400, kInvalidType, "the body, or a field of it"},
    Shape{ErrorCode::kTooLong, 400, "exceed_context_size_error",
          "the prompt is longer than the context; both counts stand beside the message"},
    Shape{ErrorCode::kUnsupported, 501, "not_supported_error",
          "what this layer or model cannot do"},
    Shape{ErrorCode::kBusy, 503, "unavailable_error", "the model's queue is full"},
    Shape{
        ErrorCode::kConflict, 409, "conflict_error",
        "a name that is taken, pages that a worker maps, weights that are pinned, an admin's last "
        "key"},
    Shape{ErrorCode::kUnavailable, 503, "unavailable_error",
          "a worker died twice, the wait that was asked for ran out, or another server did not "
          "give what was asked of it"},
    Shape{ErrorCode::kInternal, 500, "server_error", "a fault of ours"},
};

// What no Error stands for: of the routes themselves and of the HTTP server. 404, 500 and 503 are
// above, too.
struct OwnStatus {
  int status;
  std::string_view type;
  std::string_view when;
};

constexpr std::array kOwnStatuses{
    OwnStatus{400, kInvalidType, "no proper HTTP"},
    OwnStatus{401, "authentication_error", "no key, or none that is known"},
    OwnStatus{403, "permission_error",
              "a key with another role, an unknown Host, an Origin that is not listed"},
    OwnStatus{404, "not_found_error", "nothing is at this path"},
    OwnStatus{405, kInvalidType, "the path takes other methods, which `Allow` lists"},
    OwnStatus{408, kInvalidType, "header or body came too slowly"},
    OwnStatus{413, kInvalidType, "a body of more than `max_body_mib`"},
    OwnStatus{414, kInvalidType, "a request line of more than `max_header_kib`"},
    OwnStatus{431, kInvalidType, "a header of more than `max_header_kib`"},
    OwnStatus{500, "server_error", ""},
    OwnStatus{501, kInvalidType, "a transfer coding other than chunked"},
    OwnStatus{503, "unavailable_error",
              "too many connections, or too much in bodies at once (`max_bodies_mib`)"},
    OwnStatus{505, kInvalidType, "another HTTP than 1.0 and 1.1"},
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

// An error as every dialect tells it in its own way.
struct Problem {
  int status = 500;
  std::string_view type;
  std::string message;
  std::string field;
  std::optional<Error::Counts> counts;
  std::optional<double> eta_ms;
  std::string request_id;
};

std::string_view type_of_status(int status) {
  const auto* found = std::ranges::find(kOwnStatuses, status, &OwnStatus::status);
  return found == kOwnStatuses.end() ? kInvalidType : found->type;
}

// As https://docs.anthropic.com/en/api/errors lists them. 529 is theirs alone; 503 with Retry-After
// is what clients of any kind wait for.
std::string_view anthropic_type_of(int status) {
  switch (status) {
    case 401:
    case 403:
    case 404:
      return type_of_status(status);
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

void add_text_or_null(JsonWriter& out, std::string_view key, const std::string& text) {
  if (text.empty()) {
    out.null(key);
  } else {
    out.string(key, text);
  }
}

void add_figures(JsonWriter& out, const Problem& problem) {
  if (problem.counts) {
    out.integer("n_prompt_tokens", problem.counts->prompt_tokens);
    out.integer("n_ctx", problem.counts->context_tokens);
  }
  if (problem.eta_ms) out.number("eta_ms", *problem.eta_ms);
}

// The model's worker names members as OpenAI's and Ollama's clients know them.
std::string_view anthropic_field_of(std::string_view field) {
  if (field == "think") return "thinking";
  if (field == "response_format") return "output_config.format";
  return field;
}

std::string anthropic_body(const Problem& problem) {
  JsonWriter error;
  error.string("type", anthropic_type_of(problem.status)).string("message", problem.message);
  if (!problem.field.empty()) error.string("field", anthropic_field_of(problem.field));
  add_figures(error, problem);
  JsonWriter out;
  out.string("type", "error").raw("error", error.object());
  add_text_or_null(out, "request_id", problem.request_id);
  return out.object();
}

std::string_view responses_field_of(std::string_view field) {
  if (field == "think") return "reasoning.effort";
  if (field == "response_format") return "text.format";
  return field == "messages" ? "input" : field;
}

// Ollama's clients read a text and no more; what stands beside it is for those who look.
std::string ollama_body(const Problem& problem) {
  JsonWriter out;
  out.string("error", problem.message);
  const bool is_format = problem.field == "response_format";
  if (!problem.field.empty()) out.string("field", is_format ? "format" : problem.field);
  add_figures(out, problem);
  return out.object();
}

std::string body_of(Dialect dialect, const Problem& problem) {
  if (dialect == Dialect::kAnthropic) return anthropic_body(problem);
  if (dialect == Dialect::kOllama) return ollama_body(problem);
  JsonWriter error;
  error.string("message", problem.message).string("type", problem.type);
  const bool is_openai = dialect == Dialect::kOpenAi || dialect == Dialect::kResponses;
  const std::string field{dialect == Dialect::kResponses ? responses_field_of(problem.field)
                                                         : problem.field};
  add_text_or_null(error, is_openai ? "param" : "field", field);
  if (is_openai) error.integer("code", problem.status);
  add_figures(error, problem);
  return JsonWriter{}.raw("error", error.object()).object();
}

// `model "x:latest" not found`, as the front words it, is mostly a name that was never fetched.
std::string with_hint(const Error& error) {
  constexpr std::string_view kStart = "model \"";
  constexpr std::string_view kEnd = "\" not found";
  std::string message = error.message();
  const bool names_a_model = error.code() == ErrorCode::kNotFound && message.starts_with(kStart) &&
                             message.ends_with(kEnd);
  if (!names_a_model) return message;
  const std::string name =
      message.substr(kStart.size(), message.size() - kStart.size() - kEnd.size());
  return message + "; to fetch it: hearth pull " + name;
}

void add_kind(std::vector<ErrorKind>& kinds, int status, std::string_view type,
              std::string_view when) {
  const auto same = std::ranges::find_if(
      kinds, [&](const ErrorKind& kind) { return kind.status == status && kind.type == type; });
  if (same == kinds.end()) {
    const auto place = std::ranges::upper_bound(kinds, status, {}, &ErrorKind::status);
    kinds.insert(place, ErrorKind{status, type, anthropic_type_of(status), std::string{when}});
  } else if (!when.empty()) {
    same->when += (same->when.empty() ? "" : "; ") + std::string{when};
  }
}

}  // namespace

std::vector<ErrorKind> error_kinds() {
  std::vector<ErrorKind> kinds;
  for (const Shape& shape : kShapes) add_kind(kinds, shape.status, shape.type, shape.when);
  for (const OwnStatus& own : kOwnStatuses) add_kind(kinds, own.status, own.type, own.when);
  return kinds;
}

int status_of(ErrorCode code) { return shape_of(code).status; }
std::string_view type_of(ErrorCode code) { return shape_of(code).type; }

std::string error_body(Dialect dialect, Audience audience, const front::Refused& refused) {
  const Error& error = refused.error;
  Problem problem;
  problem.status = status_of(error.code());
  problem.type = type_of(error.code());
  const bool whole = audience == Audience::kAdmin || !may_name_our_files(error.code());
  const std::string message = with_hint(error);
  problem.message = whole ? message : without_directories(message);
  problem.field = error.field();
  if (error.code() == ErrorCode::kTooLong) problem.counts = error.counts();
  problem.eta_ms = refused.eta_ms;
  problem.request_id = refused.report.request_id;
  return body_of(dialect, problem);
}

http::HttpResponse route_error(Dialect dialect, int status, std::string_view message) {
  Problem problem;
  problem.status = status;
  problem.type = type_of_status(status);
  problem.message = message;
  return http::HttpResponse::json(status, body_of(dialect, problem));
}

http::HttpResponse error_response(Dialect dialect, Audience audience,
                                  const front::Refused& refused) {
  const ErrorCode code = refused.error.code();
  auto response = http::HttpResponse::json(status_of(code), error_body(dialect, audience, refused));
  if (refused.retry_after_s || code == ErrorCode::kBusy) {
    response.headers.push_back({"Retry-After", std::to_string(refused.retry_after_s.value_or(1))});
  }
  return response;
}

http::HttpResponse error_response(Dialect dialect, Audience audience, const Error& error) {
  const front::Refused refused{error, std::nullopt, std::nullopt, {}};
  return error_response(dialect, audience, refused);
}

}  // namespace hearth::api

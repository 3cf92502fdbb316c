// SPDX-License-Identifier: Apache-2.0
#include "http/request_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

namespace hearth::http {
namespace {

namespace beast = boost::beast;
using beast::http::error;
using beast::http::field;

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

Refusal refusal_for(const beast::error_code& problem) {
  if (problem == error::header_limit) return {431, "The request's header is too large."};
  if (problem == error::body_limit || problem == error::buffer_overflow) {
    return {413, "The request's body is too large."};
  }
  if (problem == error::bad_version) return {505, "Only HTTP/1.0 and HTTP/1.1 are spoken here."};
  return {400, "Malformed HTTP request: " + problem.message() + "."};
}

struct Target {
  std::string_view path;
  std::string_view query;
};

// Splits the request target; the absolute form that proxies use loses its scheme and authority.
Target split_target(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const std::size_t scheme = target.find("://");
  if (!target.starts_with('/') && scheme != std::string_view::npos) {
    target.remove_prefix(scheme + 3);
    target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
    if (!target.starts_with('/'))
      return {"/", target.substr(std::min<std::size_t>(1, target.size()))};
  }
  if (target == "*") target = "/";
  const std::size_t mark = std::min(target.find('?'), target.size());
  return {target.substr(0, mark), target.substr(std::min(mark + 1, target.size()))};
}

std::string upper(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

}  // namespace

struct RequestParser::State {
  beast::http::request_parser<beast::http::string_body> parser;
  std::size_t max_header;
  HttpRequest request;

  std::optional<Refusal> check_header();
  Phase phase() const {
    if (parser.is_done()) return Phase::kComplete;
    return parser.is_header_done() ? Phase::kBody : Phase::kHeader;
  }
};

std::optional<Refusal> RequestParser::State::check_header() {
  const auto& message = parser.get();
  if (message.count(field::transfer_encoding) > 0 && !parser.chunked()) {
    return Refusal{501, "The only transfer coding supported is chunked."};
  }
  if (message.count(field::transfer_encoding) > 0 &&
      !beast::iequals(message[field::transfer_encoding], "chunked")) {
    return Refusal{501, "The only transfer coding supported is chunked."};
  }
  const std::size_t hosts = message.count(field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11)) {
    return Refusal{400, "An HTTP/1.1 request needs exactly one Host header."};
  }
  const Target target = split_target(view_of(message.target()));
  std::optional<std::string> path = normal_path(target.path);
  if (!path) return Refusal{400, "The request's path is malformed."};
  request.path = *std::move(path);
  request.query = std::string{target.query};
  request.method = upper(view_of(message.method_string()));
  for (const auto& item : message) {
    request.headers.push_back(
        {std::string{view_of(item.name_string())}, std::string{view_of(item.value())}});
  }
  return std::nullopt;
}

RequestParser::RequestParser(Bytes max_header, Bytes max_body) : state_{std::make_unique<State>()} {
  state_->max_header = max_header.count();
  state_->parser.header_limit(static_cast<std::uint32_t>(max_header.count()));
  state_->parser.body_limit(max_body.count());
}

RequestParser::~RequestParser() = default;

tl::expected<RequestParser::Progress, Refusal> RequestParser::feed(std::string_view input) {
  State& state = *state_;
  Progress progress;
  while (progress.used < input.size() && !state.parser.is_done()) {
    const bool in_header = !state.parser.is_header_done();
    const std::string_view rest = input.substr(progress.used);
    beast::error_code problem;
    progress.used += state.parser.put(boost::asio::buffer(rest.data(), rest.size()), problem);
    if (problem && problem != error::need_more) return tl::unexpected{refusal_for(problem)};
    if (in_header && state.parser.is_header_done()) {
      if (auto refusal = state.check_header()) return tl::unexpected{*std::move(refusal)};
      state.parser.eager(true);
      continue;
    }
    if (problem == error::need_more) break;
  }
  // Chunk extensions and trailers count against no limit of the parser's own.
  if (state.phase() == Phase::kBody && input.size() - progress.used > state.max_header) {
    return tl::unexpected{Refusal{400, "A chunk's header or the trailer is too long."}};
  }
  progress.phase = state.phase();
  return progress;
}

bool RequestParser::expects_continue() const {
  const auto& message = state_->parser.get();
  return message.version() >= 11 && beast::iequals(message[field::expect], "100-continue");
}

Framing RequestParser::framing() const {
  const bool modern = state_->parser.get().version() >= 11;
  Framing framing;
  framing.keep_alive = modern && state_->parser.keep_alive();
  framing.chunked = modern;
  framing.head_only = state_->request.method == "HEAD";
  return framing;
}

HttpRequest RequestParser::take() {
  state_->request.body = std::move(state_->parser.get().body());
  return std::move(state_->request);
}

}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#include "http/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <optional>
#include <utility>

#include "http/growing_body.h"

namespace hearth::http {
namespace {

namespace beast = boost::beast;
using beast::http::error;
using beast::http::field;

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

// "64 KiB"
std::string text_of(std::size_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

Refusal refusal_for(const beast::error_code& problem, std::string_view input) {
  // To Beast a request line's bare line feed is part of its version.
  const std::string_view line = input.substr(0, input.find('\n') + 1);
  if (auto refusal = check_lines(line); refusal && problem == error::bad_version) return *refusal;
  if (problem == error::bad_version) return {505, "Only HTTP/1.0 and HTTP/1.1 are spoken here."};
  return {400, "Malformed HTTP request: " + problem.message() + "."};
}

Refusal header_too_long(std::string_view kept) {
  const std::string limit = text_of(kept.size());
  const bool line_complete = kept.find('\n') != std::string_view::npos;
  if (line_complete) return {431, "The request's header is larger than " + limit + "."};
  return {414, "The request's target is longer than " + limit + "."};
}

Refusal body_too_large(std::size_t limit) {
  return {413, "The request's body is larger than " + text_of(limit) + "."};
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
  beast::http::request_parser<GrowingBody> parser;
  std::size_t max_header;
  std::size_t max_body;
  Choice choice;
  BodyDelivery delivery = BodyDelivery::kWhole;
  std::uint64_t taken = 0;        // bytes of the body that were taken in pieces
  std::size_t used = 0;           // bytes of the input that the parser has done with
  std::size_t lines_checked = 0;  // bytes of the header that check_lines() has seen
  HttpRequest request;

  tl::expected<bool, Refusal> step(std::string_view input);
  std::optional<Refusal> after_header(std::string_view bytes);
  void read_header();
  std::optional<Refusal> check_header() const;
  std::optional<Refusal> check_framing() const;
  std::optional<Refusal> bound_body();
  Phase phase() const {
    if (parser.is_done()) return Phase::kComplete;
    return parser.is_header_done() ? Phase::kBody : Phase::kHeader;
  }
};

// Two lengths, even two equal ones, or a length beside chunks: whoever stands in front of us may
// have chosen another one than we would, and taken the rest of the body for the next request.
std::optional<Refusal> RequestParser::State::check_framing() const {
  const auto& message = parser.get();
  const std::size_t codings = message.count(field::transfer_encoding);
  const std::size_t lengths = message.count(field::content_length);
  if (codings > 0 && (codings > 1 || !parser.chunked() ||
                      !beast::iequals(message[field::transfer_encoding], "chunked"))) {
    return Refusal{501, "The only transfer coding supported is chunked."};
  }
  if (codings > 0 && (lengths > 0 || message.version() < 11)) {
    return Refusal{400, "Transfer-Encoding cannot stand here."};
  }
  const beast::string_view length = message[field::content_length];
  if (lengths > 1 || length.find_first_not_of("0123456789") != beast::string_view::npos) {
    return Refusal{400, "A request has at most one Content-Length, a number."};
  }
  return std::nullopt;
}

// `bytes` is the header, or as much of it as has come.
std::optional<Refusal> RequestParser::State::after_header(std::string_view bytes) {
  const std::size_t overlap = std::min<std::size_t>(lines_checked, 2);  // a line end cut in two
  auto refusal = check_lines(bytes.substr(lines_checked - overlap));
  lines_checked = bytes.size();
  if (refusal || !parser.is_header_done()) return refusal;
  read_header();
  parser.eager(true);
  refusal = check_header();
  return refusal ? refusal : bound_body();
}

std::optional<Refusal> RequestParser::State::bound_body() {
  if (choice) delivery = choice(request);
  if (delivery == BodyDelivery::kStreamed) return std::nullopt;
  parser.body_limit(max_body);
  if (parser.content_length().value_or(0) > max_body) return body_too_large(max_body);
  return std::nullopt;
}

void RequestParser::State::read_header() {
  const auto& message = parser.get();
  request.method = upper(view_of(message.method_string()));
  for (const auto& item : message) {
    request.headers.push_back(
        {std::string{view_of(item.name_string())}, std::string{view_of(item.value())}});
  }
  if (auto target = parse_target(view_of(message.target()))) {
    request.path = std::move(target->path);
    request.query = std::move(target->query);
  }
}

std::optional<Refusal> RequestParser::State::check_header() const {
  if (auto refusal = check_framing()) return refusal;
  const auto& message = parser.get();
  const std::size_t hosts = message.count(field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11)) {
    return Refusal{400, "An HTTP/1.1 request needs exactly one Host header."};
  }
  if (request.path.empty()) return Refusal{400, "The request's path is malformed."};
  return std::nullopt;
}

RequestParser::RequestParser(Bytes max_header, Bytes max_body, Choice choice)
    : state_{std::make_unique<State>()} {
  state_->choice = std::move(choice);
  state_->max_header = max_header.count();
  state_->max_body = max_body.count();
  state_->parser.header_limit(static_cast<std::uint32_t>(max_header.count()));
  state_->parser.body_limit(boost::none);  // decided once the header says what this is
  state_->parser.get().body().most = max_body.count();
}

RequestParser::~RequestParser() = default;

// One step of Beast's, which takes the request line, then the fields, then the body in pieces.
// False when it needs more than there is, and between header and body.
tl::expected<bool, Refusal> RequestParser::State::step(std::string_view input) {
  const bool in_header = !parser.is_header_done();
  const std::string_view rest = input.substr(used);
  beast::error_code problem;
  used += parser.put(boost::asio::buffer(rest.data(), rest.size()), problem);
  if (problem == error::header_limit) {
    return tl::unexpected{header_too_long(input.substr(0, max_header))};
  }
  if (problem == error::body_limit || problem == error::buffer_overflow) {
    return tl::unexpected{body_too_large(max_body)};
  }
  if (problem && problem != error::need_more) return tl::unexpected{refusal_for(problem, input)};
  if (in_header) {
    const bool done = parser.is_header_done();
    auto refusal = after_header(done ? input.substr(0, used) : input);
    if (refusal) return tl::unexpected{*std::move(refusal)};
    if (done) return false;
  }
  return problem != error::need_more;
}

tl::expected<RequestParser::Progress, Refusal> RequestParser::feed(std::string_view input) {
  State& state = *state_;
  const bool in_header = !state.parser.is_header_done();
  bool going = true;
  while (going && state.used < input.size() && !state.parser.is_done()) {
    const auto stepped = state.step(input);
    if (!stepped) return tl::unexpected{stepped.error()};
    going = *stepped;
  }
  Progress progress;
  progress.phase = state.phase();
  // The header stays where it is until it is complete: head() may want to read it again.
  if (progress.phase != Phase::kHeader) progress.used = std::exchange(state.used, 0);
  // Chunk extensions and trailers count against no limit of the parser's own.
  const bool in_body = !in_header && progress.phase == Phase::kBody;
  if (in_body && input.size() - progress.used > state.max_header) {
    return tl::unexpected{Refusal{400, "A chunk's header or the trailer is too long."}};
  }
  return progress;
}

std::optional<HttpRequest> RequestParser::head(std::string_view input) const {
  if (!state_->parser.is_header_done()) return peek_head(input);
  if (state_->request.path.empty()) return std::nullopt;
  return state_->request;
}

HttpRequest& RequestParser::request() { return state_->request; }

bool RequestParser::streamed() const { return state_->delivery == BodyDelivery::kStreamed; }

std::string RequestParser::take_piece() {
  std::string piece = std::exchange(state_->parser.get().body().text, std::string{});
  state_->taken += piece.size();
  return piece;
}

HttpRequest RequestParser::take_head() { return std::move(state_->request); }

Bytes RequestParser::body_received() const {
  return Bytes{state_->taken + state_->parser.get().body().text.size()};
}
Bytes RequestParser::body_held() const {
  return Bytes{state_->parser.get().body().text.capacity()};
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
  state_->request.body = std::move(state_->parser.get().body().text);
  return std::move(state_->request);
}

}  // namespace hearth::http

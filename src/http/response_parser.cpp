// SPDX-License-Identifier: Apache-2.0
#include "http/response_parser.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace hearth::http {
namespace {

namespace beast = boost::beast;
using Parser = beast::http::response_parser<beast::http::string_body>;

Failed not_http(const beast::error_code& problem) {
  return fail(ErrorCode::kUnavailable, "bad HTTP answer: " + problem.message());
}

}  // namespace

struct ResponseParser::State {
  Body body;
  std::unique_ptr<Parser> parser;

  // A parser serves one message, so an interim answer costs it.
  void start() {
    parser = std::make_unique<Parser>();
    parser->eager(true);
    parser->header_limit(1 << 20);
    parser->body_limit(boost::none);
    parser->skip(body == Body::kNone);
  }
};

ResponseParser::ResponseParser(Body body) : state_{std::make_unique<State>()} {
  state_->body = body;
  state_->start();
}

ResponseParser::~ResponseParser() = default;

Result<std::size_t> ResponseParser::feed(std::string_view input) {
  std::size_t used = 0;
  while (used < input.size() && !done()) {
    const std::string_view rest = input.substr(used);
    beast::error_code problem;
    used += state_->parser->put(boost::asio::buffer(rest.data(), rest.size()), problem);
    if (problem == beast::http::error::need_more) break;
    if (problem) return not_http(problem);
    if (done() && state_->parser->get().result_int() / 100 == 1) state_->start();
  }
  return used;
}

Result<> ResponseParser::feed_end() {
  if (done()) return {};
  if (!state_->parser->got_some()) {
    return fail(ErrorCode::kUnavailable, "the connection was closed without an answer");
  }
  beast::error_code problem;
  state_->parser->put_eof(problem);
  if (problem) return fail(ErrorCode::kUnavailable, "the answer was cut off");
  return {};
}

bool ResponseParser::header_done() const { return state_->parser->is_header_done(); }
bool ResponseParser::done() const { return state_->parser->is_done(); }

HttpResponse ResponseParser::head() const {
  const auto& message = state_->parser->get();
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& item : message) {
    const beast::string_view name = item.name_string();
    const beast::string_view value = item.value();
    response.headers.push_back(
        {std::string{name.data(), name.size()}, std::string{value.data(), value.size()}});
  }
  return response;
}

std::string ResponseParser::take_body() {
  std::string& body = state_->parser->get().body();
  return std::exchange(body, std::string{});
}

}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "http/server.h"

namespace hearth::api::testing {

// An exchange whose client is the test: what was sent lies in plain members.
class FakeExchange : public http::Exchange {
 public:
  FakeExchange(std::string method, std::string path, std::string text = "") {
    request_.method = std::move(method);
    request_.path = std::move(path);
    request_.body = std::move(text);
    request_.headers.push_back({"Host", "127.0.0.1:11435"});
  }

  http::HttpRequest& edit() { return request_; }

  // The client closes its connection; writes fail from now on.
  void leave() {
    gone_ = true;
    if (auto callback = std::exchange(callback_, {})) callback();
  }

  const http::HttpRequest& request() const override { return request_; }
  Task<Result<std::string>> next_body_chunk() override {
    if (gone_) co_return fail(ErrorCode::kCancelled, "gone");
    if (chunks.empty()) co_return std::string{};
    std::string chunk = std::move(chunks.front());
    chunks.pop_front();
    if (chunk == kCutHere) {
      leave();
      co_return fail(ErrorCode::kCancelled, "gone");
    }
    co_return chunk;
  }
  Task<Result<>> respond(http::HttpResponse response) override {
    if (gone_) co_return fail(ErrorCode::kCancelled, "gone");
    ++answers;
    status = response.status;
    headers = std::move(response.headers);
    body = std::move(response.body);
    ended = true;
    co_return Result<>{};
  }
  Task<Result<>> begin_stream(int code, http::Headers sent) override {
    if (gone_) co_return fail(ErrorCode::kCancelled, "gone");
    ++answers;
    status = code;
    headers = std::move(sent);
    co_return Result<>{};
  }
  Task<Result<>> write(std::string bytes) override {
    if (gone_) co_return fail(ErrorCode::kCancelled, "gone");
    ++writes;
    body += bytes;
    co_return Result<>{};
  }
  Task<Result<>> end_stream() override {
    if (gone_) co_return fail(ErrorCode::kCancelled, "gone");
    ended = true;
    co_return Result<>{};
  }
  bool client_gone() const override { return gone_; }
  void on_client_gone(std::function<void()> callback) override { callback_ = std::move(callback); }

  std::string header(std::string_view name) const {
    return std::string{http::header_of(headers, name).value_or("")};
  }
  bool watched() const { return static_cast<bool>(callback_); }

  static constexpr std::string_view kCutHere = "(the client leaves)";
  std::deque<std::string> chunks;  // of a body that is streamed; kCutHere ends it there

  int answers = 0;  // respond() and begin_stream() together: 1 when all is well
  int writes = 0;
  int status = 0;
  http::Headers headers;
  std::string body;
  bool ended = false;

 private:
  http::HttpRequest request_;
  std::function<void()> callback_;
  bool gone_ = false;
};

}  // namespace hearth::api::testing

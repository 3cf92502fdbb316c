// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "http/server.h"

namespace hearth::api {

// An exchange that remembers whether an answer has begun, and with which status, so that a late
// failure knows whether it may still become one. Can add headers to whatever is answered.
class TrackedExchange : public http::Exchange {
 public:
  explicit TrackedExchange(http::Exchange& inner) : inner_{inner} {}

  bool begun() const { return status_ != 0; }
  int status() const { return status_; }  // 0: no answer has begun

  // For the answer, before it begins.
  void add_headers(http::Headers headers) { added_ = std::move(headers); }

  const http::HttpRequest& request() const override { return inner_.request(); }
  Task<Result<std::string>> next_body_chunk() override { return inner_.next_body_chunk(); }
  Task<Result<>> respond(http::HttpResponse response) override {
    status_ = response.status;
    std::ranges::move(added_, std::back_inserter(response.headers));
    return inner_.respond(std::move(response));
  }
  Task<Result<>> begin_stream(int status, http::Headers headers) override {
    status_ = status;
    std::ranges::move(added_, std::back_inserter(headers));
    return inner_.begin_stream(status, std::move(headers));
  }
  Task<Result<>> write(std::string bytes) override { return inner_.write(std::move(bytes)); }
  Task<Result<>> end_stream() override { return inner_.end_stream(); }
  bool client_gone() const override { return inner_.client_gone(); }
  void on_client_gone(std::function<void()> callback) override {
    inner_.on_client_gone(std::move(callback));
  }

 private:
  http::Exchange& inner_;
  http::Headers added_;
  int status_ = 0;
};

}  // namespace hearth::api

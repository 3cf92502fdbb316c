// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/bytes.h"
#include "http/message.h"
#include "http/request_head.h"

namespace hearth::http {

// How the answer to a request has to be framed.
struct Framing {
  bool keep_alive = true;  // false for HTTP/1.0 always: it ends with the connection
  bool chunked = true;     // false for HTTP/1.0
  bool head_only = false;  // HEAD
};

// Turns the bytes of one request into an HttpRequest, within limits. Feed it the front of the
// connection's buffer again and again; it says how much of it is used up.
class RequestParser {
 public:
  enum class Phase { kHeader, kBody, kComplete };

  struct Progress {
    Phase phase = Phase::kHeader;
    std::size_t used = 0;  // bytes of `input` that are done with
  };

  // What is said of a request when its header is complete. Must not throw.
  using Choice = std::function<BodyDelivery(const HttpRequest& head)>;

  // Without `choice` all bodies are whole. max_body bounds those only.
  RequestParser(Bytes max_header, Bytes max_body, Choice choice = {});
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Stops behind the header, also where some of the body has come with it: what becomes of the
  // body may be decided there. Not to be called again after kComplete or a refusal. Refused with
  // 400, 413, 414, 431, 501 or 505.
  tl::expected<Progress, Refusal> feed(std::string_view input);

  // What is known of the request, also after a refusal, for whoever words that. `input` is what
  // feed() had last. nullopt before the request line is complete, or when it makes no sense.
  std::optional<HttpRequest> head(std::string_view input) const;

  // From Phase::kBody on; its body comes with take(), and peer and first_byte are left for the
  // caller.
  HttpRequest& request();
  bool expects_continue() const;
  Framing framing() const;

  // From Phase::kBody on.
  bool streamed() const;
  // Of a streamed body: what has come since the last call.
  std::string take_piece();
  // Of a request whose body is streamed: all but that, once.
  HttpRequest take_head();

  // Of the body so far: its length, and what it takes in memory.
  Bytes body_received() const;
  Bytes body_held() const;

  // After kComplete, once.
  HttpRequest take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace hearth::http {

// The client's half: turns bytes into status, headers and pieces of body as they arrive. Interim
// answers (1xx) are skipped.
class ResponseParser {
 public:
  enum class Body { kExpected, kNone };  // kNone: the answer to a HEAD

  explicit ResponseParser(Body body);
  ~ResponseParser();
  ResponseParser(const ResponseParser&) = delete;
  ResponseParser& operator=(const ResponseParser&) = delete;

  // Returns how many bytes of `input` are done with; the rest must come again with more behind it.
  // Errors: kUnavailable, when this is not HTTP.
  Result<std::size_t> feed(std::string_view input);

  // The connection ended. Errors: kUnavailable, when the answer was not complete by then.
  Result<> feed_end();

  bool header_done() const;
  bool done() const;

  // Once header_done(): status and headers, with an empty body.
  HttpResponse head() const;

  // The body received since the last call.
  std::string take_body();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "http/client.h"
#include "lab/target/target.h"

namespace hearth::lab {

// A POST whose answer comes line by line.
struct StreamRequest {
  std::string target;  // "/v1/completions"
  std::string body;    // JSON
  std::chrono::milliseconds patience{120'000};
  std::function<bool()> stop;  // looked at ten times a second; may be empty
  std::string key{};           // of the server's API; empty: none
};

// How it went. `problem` is a sentence for people with anything but kDone.
struct StreamOutcome {
  Answer::Ending ending = Answer::Ending::kDone;
  std::string problem;
  int status = 0;  // 0: there was no answer
  double total_ms = 0;
};

// What a reader makes of a line: whether more is to come.
enum class AfterLine { kMore, kEnd, kGarbage };

// One request on a connection of its own. `on_line` is given each line of a good answer and the
// milliseconds since the request's first byte, as soon as it is here; the call returns when it says
// kEnd. A stream that ends before that is kBroken, one that trickles for ten times the patience is
// kHung, one of more than 64 MiB is kGarbage. Never throws. Thread-safe.
StreamOutcome stream_lines(const http::Client& server, const StreamRequest& request,
                           const std::function<AfterLine(std::string_view, double)>& on_line);

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hearth::traces {

using Headers = std::vector<std::pair<std::string, std::string>>;

// What is to be sent to a collector.
struct Post {
  std::string endpoint;  // "http://host[:port][/path]"
  Headers headers;       // Content-Type is among them
  std::string body;
  std::chrono::milliseconds timeout{};  // to connect, and for each pause of the answer
};

struct PostAnswer {
  int status = 0;
  std::optional<std::string> retry_after{};  // the header
  std::string body{};
};

// Blocks; called on a pool's thread, one call after the other. Errors: kUnavailable, kInvalid (the
// endpoint).
using Poster = std::function<Result<PostAnswer>(const Post&)>;

}  // namespace hearth::traces

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "base/result.h"

namespace hearth::front {

// Asks one service and says how long its answer took. Belongs to the loop.
class Probe {
 public:
  struct Answer {
    Duration took{};
    bool in_time = true;  // false: it took at least that long
  };

  virtual ~Probe() = default;

  // From before the connection to the end of the answer's head. Whatever it says, it is an answer,
  // but for failures of the server (status 500 and above). One at a time. Errors: kUnavailable
  // (nobody listens, no HTTP, a failure), kCancelled.
  virtual Task<Result<Answer>> ask() = 0;

  // An ask() under way ends soon, with kCancelled, and all later ones at once.
  virtual void cancel() = 0;
};

// Makes the probe of an "http://" address. Errors: kInvalid (what that address lacks).
using MakeProbe = std::function<Result<std::unique_ptr<Probe>>(const std::string& url)>;

}  // namespace hearth::front

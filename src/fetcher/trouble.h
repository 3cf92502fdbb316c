// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "base/result.h"

namespace hearth::fetcher {

// Why an exchange with a server did not do.
struct Trouble {
  enum class Hope {
    kNone,   // asking again gives the same
    kRetry,  // it may go better later
  };
  Error error;
  Hope hope = Hope::kNone;
  std::optional<std::chrono::seconds> retry_after;  // when the server says it may go better
  bool overloaded = false;                          // by its own word: ask less at once
};

inline Trouble hopeless(Error error) { return {std::move(error), Trouble::Hope::kNone, {}, false}; }
inline Trouble passing(Error error) { return {std::move(error), Trouble::Hope::kRetry, {}, false}; }

}  // namespace hearth::fetcher

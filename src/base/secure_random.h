// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace hearth {

// Bytes that nobody can guess, for secrets; a test puts its own in their place. Thread-safe.
class SecureRandom {
 public:
  virtual ~SecureRandom() = default;

  // All of `into`. Errors: kUnavailable; nothing of `into` may be used then.
  virtual Result<> fill(std::span<unsigned char> into) const = 0;

  // The kernel's generator. Waits only where the machine has just started and has gathered no
  // entropy yet.
  static const SecureRandom& kernel();
};

}  // namespace hearth

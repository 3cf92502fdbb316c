// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "wire/messages.h"

namespace hearth::wire {

// The error that a worker sent.
inline Error error_of(const FailedMessage& failed) {
  return Error{error_code_named(failed.code), failed.message}
      .at(failed.field)
      .with_counts({failed.prompt_tokens, failed.context});
}

}  // namespace hearth::wire

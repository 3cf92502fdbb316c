// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// What went wrong when a store was written to, with what to do about it.
inline Failed not_stored(const Error& error, std::string_view directory) {
  const std::string where{directory};
  switch (error.code()) {
    case ErrorCode::kNoSpace:
      return fail(error.code(),
                  error.message() + "; free some room on " + where + " or set `data` elsewhere");
    case ErrorCode::kUnavailable:
      return fail(error.code(), error.message() + "; whoever runs this server must be able to " +
                                    "write to " + where + ", or set `data` elsewhere");
    default:
      return Failed{error};
  }
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace hearth {
namespace {

struct NamedCode {
  ErrorCode code;
  std::string_view name;
};

constexpr std::array kNames{
    NamedCode{ErrorCode::kNotFound, "not_found"},
    NamedCode{ErrorCode::kNoSpace, "no_space"},
    NamedCode{ErrorCode::kCancelled, "cancelled"},
    NamedCode{ErrorCode::kCorrupt, "corrupt"},
    NamedCode{ErrorCode::kInvalid, "invalid"},
    NamedCode{ErrorCode::kTooLong, "too_long"},
    NamedCode{ErrorCode::kUnsupported, "unsupported"},
    NamedCode{ErrorCode::kBusy, "busy"},
    NamedCode{ErrorCode::kConflict, "conflict"},
    NamedCode{ErrorCode::kUnavailable, "unavailable"},
    NamedCode{ErrorCode::kInternal, "internal"},
};

}  // namespace

Failed fail_errno(std::string_view attempt, int error, ErrorCode otherwise) {
  const ErrorCode code = error == ENOENT   ? ErrorCode::kNotFound
                         : error == ELOOP  ? ErrorCode::kInvalid
                         : error == ENOSPC ? ErrorCode::kNoSpace
                                           : otherwise;
  return fail(code, std::string{attempt} + ": " + std::strerror(error));
}

std::string_view name_of(ErrorCode code) {
  for (const NamedCode& named : kNames) {
    if (named.code == code) return named.name;
  }
  return "internal";
}

ErrorCode error_code_named(std::string_view name) {
  for (const NamedCode& named : kNames) {
    if (named.name == name) return named.code;
  }
  return ErrorCode::kInternal;
}

}  // namespace hearth

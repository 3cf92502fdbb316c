// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace hearth {

// Codes are for callers that react. Add one only where some caller takes a different branch on it;
// everything a person needs to read goes into the message.
enum class ErrorCode {
  kNotFound,     // the model, file or cache entry does not exist        -> 404
  kNoSpace,      // the budget or the disk cannot take it right now      -> 503, retry later
  kCancelled,    // the client went away or the server is stopping       -> nothing is sent
  kCorrupt,      // stored bytes fail their check                        -> drop, recompute; 422
  kInvalid,      // the request itself is wrong                          -> 400
  kTooLong,      // the prompt does not fit the context                  -> 400 with both counts
  kUnsupported,  // the model or this build cannot do it                 -> 501
  kBusy,         // a bounded queue is full                              -> 503 + Retry-After
  kConflict,     // the state of the thing forbids it (mapped, in use)   -> 409
  kUnavailable,  // a worker died or is not ready                        -> 503, retry later
  kInternal,     // a bug or a broken environment                        -> 500
};

class Error {
 public:
  Error(ErrorCode code, std::string message) : code_{code}, message_{std::move(message)} {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The request field at fault as a path ("messages[2].content"), empty when there is none.
  const std::string& field() const { return field_; }
  Error at(std::string field) && {
    field_ = std::move(field);
    return std::move(*this);
  }

  // Prefixes what was being attempted, so that the outermost message reads as a path:
  // "load qwen-9b: open q.gguf: permission denied".
  Error during(std::string_view attempt) && {
    message_.insert(0, std::string{attempt} + ": ");
    return std::move(*this);
  }

  // For kTooLong: what was asked for and what there is, in tokens.
  struct Counts {
    int prompt_tokens = 0;
    int context_tokens = 0;
  };
  const Counts& counts() const { return counts_; }
  Error with_counts(Counts counts) && {
    counts_ = counts;
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string message_;
  std::string field_;
  Counts counts_;
};

template <class T = void>
using Result = tl::expected<T, Error>;
using Failed = tl::unexpected<Error>;

inline Failed fail(ErrorCode code, std::string message) {
  return Failed{Error{code, std::move(message)}};
}

// "<attempt>: <strerror>". ENOENT becomes kNotFound, ENOSPC kNoSpace, all else `otherwise`.
Failed fail_errno(std::string_view attempt, int error,
                  ErrorCode otherwise = ErrorCode::kUnavailable);

// Stable lower-case names ("not_found"), used on the wire and in logs.
std::string_view name_of(ErrorCode code);
ErrorCode error_code_named(std::string_view name);  // kInternal for an unknown name

}  // namespace hearth

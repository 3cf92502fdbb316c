// SPDX-License-Identifier: Apache-2.0
#include "api/late_stream.h"

#include <utility>

namespace hearth::api {

Task<bool> LateStream::send(std::string bytes) {
  if (!std::exchange(begun_, true)) {
    const Result<> begun = co_await exchange_.begin_stream(200, std::move(headers_));
    listening_ = begun.has_value();
  }
  if (!listening_) co_return false;
  const Result<> written = co_await exchange_.write(std::move(bytes));
  listening_ = written.has_value();
  co_return listening_;
}

Task<void> LateStream::end() {
  if (listening_) (void)co_await exchange_.end_stream();
}

}  // namespace hearth::api

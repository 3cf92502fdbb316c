// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "base/result.h"
#include "wire/frame.h"

namespace hearth::wire {

// The worker's end of the socket, over a blocking descriptor. send() may be called from any thread, and
// writes whole frames; receive() belongs to one thread. The descriptor is not owned.
class BlockingChannel {
 public:
  explicit BlockingChannel(int fd) : fd_{fd} {}

  // Errors: kUnavailable when the other side has gone; kInternal for a payload over kMaxPayload.
  Result<> send(const Frame& frame);

  // Errors: kUnavailable at end of file, kCorrupt for a header that breaks the limits.
  Result<Frame> receive();

 private:
  const int fd_;
  std::mutex send_mutex_;
};

}  // namespace hearth::wire

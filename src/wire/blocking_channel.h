// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <span>
#include <string_view>

#include "base/result.h"
#include "wire/frame.h"

namespace hearth::wire {

// The worker's end of the socket, over a blocking descriptor. send() may be called from any thread,
// and writes whole frames; receive() belongs to one thread. The descriptor is not owned.
class BlockingChannel {
 public:
  explicit BlockingChannel(int fd) : fd_{fd} {}

  // Blocks while the socket is full. Errors: kUnavailable when the other side has gone; kInternal
  // for a frame over kMaxPayload or kMaxDescriptors, of which nothing is sent.
  Result<> send(const Frame& frame);

  // Several frames without descriptors in as few writes as the socket allows, so that the reader
  // wakes once for all of them. Errors: as send(); a frame over the limits keeps all of them back.
  Result<> send_all(std::span<const Frame> frames);

  // Received descriptors are close-on-exec. Errors: kUnavailable at end of file, also in mid-frame;
  // kCorrupt for a header that breaks the limits, or when not just the announced descriptors came.
  // After an error the channel is of no more use.
  Result<Frame> receive();

 private:
  Result<> write_all(std::string_view bytes);

  const int fd_;
  std::mutex send_mutex_;  // held for a whole frame, so that frames do not mix
};

}  // namespace hearth::wire

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/frame.h"

namespace hearth::wire {

// The front's end, without I/O: bytes in, frames out, however the socket cut them. Not thread-safe.
class FrameBuffer {
 public:
  void append(std::span<const std::byte> bytes);

  // nullopt: more bytes are needed. Errors: kCorrupt, after which the buffer is of no more use.
  Result<std::optional<Frame>> next();

 private:
  std::string bytes_;
  std::size_t consumed_ = 0;
};

// Header bytes of `frame`, to be followed by its payload.
std::string encode_header(const Frame& frame);

// Writes as much of `bytes` as the non-blocking socket takes, with `descriptors` riding on the first
// byte. Returns how many bytes went (0: the socket is full). Errors: kUnavailable.
Result<std::size_t> send_some(int fd, std::string_view bytes, const std::vector<Fd>& descriptors);

}  // namespace hearth::wire

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/frame.h"

namespace hearth::wire {

// The front's end, without I/O: bytes in, frames out, however the socket cut them. Not thread-safe.
class FrameBuffer {
 public:
  void append(std::span<const std::byte> bytes);

  // nullopt: more bytes are needed. Errors: kCorrupt, after which the buffer is of no more use. A
  // frame that announces descriptors is corrupt too: a worker has none to give.
  Result<std::optional<Frame>> next();

 private:
  void drop_consumed();

  std::string bytes_;
  std::size_t consumed_ = 0;
};

// Header bytes of `frame`, to be followed by its payload. The frame must keep the limits of
// frame.h.
std::string encode_header(const Frame& frame);

// Writes as much of `bytes` (not empty) as the socket takes without blocking, with `descriptors`
// riding on the first byte. Returns how many bytes went; 0 means that the socket is full and no
// descriptor went either. Otherwise all of them did: pass none with the rest. Errors: kUnavailable
// when the other side has gone; kInternal for more than kMaxDescriptors.
Result<std::size_t> send_some(int fd, std::string_view bytes, const std::vector<Fd>& descriptors);

}  // namespace hearth::wire

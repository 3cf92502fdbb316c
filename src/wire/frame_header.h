// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "wire/frame.h"

namespace hearth::wire {

// The 16 bytes before a payload. Decoding refuses what no honest peer sends, so whoever holds a
// FrameHeader may allocate `payload_size` bytes without asking further.
struct FrameHeader {
  std::uint32_t payload_size = 0;
  FrameType type = FrameType::kHeartbeat;
  std::uint16_t descriptors = 0;
  std::uint64_t request = 0;

  std::array<char, kHeaderSize> encode() const;

  // `bytes` is exactly kHeaderSize long. Errors: kCorrupt for a payload or a number of descriptors
  // over the limits, and for a type that does not exist.
  static Result<FrameHeader> decode(std::string_view bytes);
};

}  // namespace hearth::wire

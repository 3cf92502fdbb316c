// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_header.h"

#include <fmt/format.h>

#include <type_traits>

namespace hearth::wire {
namespace {

template <class Int>
void put(char* at, Int value) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) {
    at[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

template <class Int>
Int get(const char* at) {
  Int value = 0;
  for (std::size_t i = sizeof(Int); i-- > 0;) {
    value = static_cast<Int>((std::uint64_t{value} << 8) | static_cast<unsigned char>(at[i]));
  }
  return value;
}

bool exists(std::uint16_t type) {
  const auto between = [type](FrameType first, FrameType last) {
    return type >= static_cast<std::uint16_t>(first) && type <= static_cast<std::uint16_t>(last);
  };
  return between(FrameType::kOpen, FrameType::kGiveWay) ||
         between(FrameType::kKeep, FrameType::kForget) ||
         between(FrameType::kFetchRules, FrameType::kFetchFile) ||
         between(FrameType::kReady, FrameType::kHeartbeat) ||
         between(FrameType::kKept, FrameType::kKept) ||
         between(FrameType::kFetchedText, FrameType::kFetched);
}

}  // namespace

std::array<char, kHeaderSize> FrameHeader::encode() const {
  std::array<char, kHeaderSize> bytes{};
  put(bytes.data(), payload_size);
  put(bytes.data() + 4, static_cast<std::uint16_t>(type));
  put(bytes.data() + 6, descriptors);
  put(bytes.data() + 8, request);
  return bytes;
}

Result<FrameHeader> FrameHeader::decode(std::string_view bytes) {
  FrameHeader header;
  header.payload_size = get<std::uint32_t>(bytes.data());
  const auto type = get<std::uint16_t>(bytes.data() + 4);
  header.type = static_cast<FrameType>(type);
  header.descriptors = get<std::uint16_t>(bytes.data() + 6);
  header.request = get<std::uint64_t>(bytes.data() + 8);
  if (header.payload_size > kMaxPayload) {
    return fail(ErrorCode::kCorrupt, fmt::format("frame of {} bytes", header.payload_size));
  }
  if (header.descriptors > kMaxDescriptors) {
    return fail(ErrorCode::kCorrupt, fmt::format("frame with {} descriptors", header.descriptors));
  }
  if (!exists(type))
    return fail(ErrorCode::kCorrupt, fmt::format("frame of unknown type {}", type));
  return header;
}

}  // namespace hearth::wire

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/sha256.h"

namespace hearth::transfer {

// Numbers and texts at fixed places of a block. The caller sees to it that they fit.

template <class T>
void put(std::span<std::byte> block, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    block[at + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

template <class T>
T get(std::span<const std::byte> block, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= std::to_integer<std::uint64_t>(block[at + i]) << (8 * i);
  }
  return static_cast<T>(value);
}

inline void put_text(std::span<std::byte> block, std::size_t at, std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  std::copy(bytes.begin(), bytes.end(), block.subspan(at).begin());
}

inline void put_digest(std::span<std::byte> block, std::size_t at, const Digest& digest) {
  std::memcpy(block.subspan(at, digest.size()).data(), digest.data(), digest.size());
}

inline Digest get_digest(std::span<const std::byte> block, std::size_t at) {
  Digest digest;
  std::memcpy(digest.data(), block.subspan(at, digest.size()).data(), digest.size());
  return digest;
}

// The first eight bytes of a SHA-256, as a number.
inline std::uint64_t short_digest(const Digest& digest) {
  return get<std::uint64_t>(std::as_bytes(std::span{digest}), 0);
}

}  // namespace hearth::transfer

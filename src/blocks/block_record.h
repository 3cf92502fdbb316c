// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/sha256.h"

namespace hearth::blocks {

// A record is a header of kHeaderSize bytes, the engine's state of the layers that look at all
// earlier tokens (`base`), and that of those which look at a window only (`window`, empty for most
// models). All numbers are little-endian; the header ends with a checksum of itself.
inline constexpr std::size_t kHeaderSize = 1024;

struct Header {
  Digest root{};    // see block_chain.h
  Digest parent{};  // the root, for the first block
  Digest digest{};
  std::uint32_t first = 0;           // position of its first token; a multiple of kBlockTokens
  std::vector<std::int32_t> tokens;  // kBlockTokens of them; fewer, but not none, of a part
  Bytes base;
  Bytes window;
  std::uint64_t base_checksum = 0;
  std::uint64_t window_checksum = 0;

  Bytes record_size() const { return Bytes{kHeaderSize} + base + window; }

  friend bool operator==(const Header&, const Header&) = default;
};

// Of an engine's bytes: XXH3, 64 bits. Against accidents, not against forgers: records are ours
// alone.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

// Exactly kHeaderSize bytes.
std::string encode(const Header& header);

// Checks the header's own checksum, its numbers, and that `digest` follows from parent and tokens.
// Errors: kCorrupt, with the reason ("no record", "version 7", "header checksum", ...).
Result<Header> decode(std::span<const std::byte> bytes);

}  // namespace hearth::blocks

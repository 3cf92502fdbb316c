// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "repack/repack_file.h"

namespace hearth::repack {

// The first bytes of a stored file, before its table. All numbers are little-endian:
//   8 bytes of magic · u32 version · u32 zero · u64 file size · u64 size of the table's bytes ·
//   u64 checksum of what is before it, and of the table's bytes
inline constexpr std::size_t kHeadSize = 40;

// A table beyond this is a lie about a count or a length.
inline constexpr std::size_t kMaxTableBytes = std::size_t{32} << 20;

struct Head {
  Bytes file_size;
  std::size_t table_bytes = 0;
  std::uint64_t checksum = 0;
};

// Head and table, one after the other.
std::vector<std::byte> encode(const Table& table);

// `bytes`: kHeadSize of them, of a file of `actual` bytes. Errors: kCorrupt.
Result<Head> decode_head(std::span<const std::byte> bytes, Bytes actual);

// `bytes`: head and table. What comes out makes sense: see read_table(). Errors: kCorrupt.
Result<Table> decode_table(const Head& head, std::span<const std::byte> bytes);

// Where the first entry may begin. Depends on names and number of the entries, not on the numbers
// in them.
std::uint64_t first_offset(const Table& table);

}  // namespace hearth::repack

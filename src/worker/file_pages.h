// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"
#include "wire/messages.h"

namespace hearth::worker {

// Brings pieces of files into memory, by one of the ways to read. Thread-safe.
class FilePages {
 public:
  struct Range {
    int file = -1;
    std::uint64_t offset = 0;
    std::span<const std::byte> mapped;  // where the same bytes are mapped
  };
  // One thread's.
  struct Scratch {
    std::vector<std::byte> bytes;
    struct Free {
      void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> aligned;
    std::size_t aligned_size = 0;
  };
  // Called after each block; false breaks off.
  using OnBlock = std::function<bool(Bytes)>;

  // How much of it the page cache lacks; all of it where the kernel does not tell.
  static Bytes missing_of(const Range& range);

  FilePages(wire::ReadMode mode, Bytes block) : mode_{mode}, block_{block} {}

  // Into the page cache and this process's page tables. Errors: kUnavailable (the device, with its
  // reason), kCorrupt (the file has become shorter), kCancelled.
  Result<> map(const Range& range, Scratch& scratch, const OnBlock& on_block) const;

  // Into `into`, past the page cache where the mode is kDirect and the bytes are not in it. Errors:
  // as above.
  Result<> copy(const Range& range, std::span<std::byte> into, Scratch& scratch,
                const OnBlock& on_block) const;

 private:
  Result<> read(int file, std::uint64_t offset, std::span<std::byte> into) const;
  Result<bool> read_direct(const Range& range, std::uint64_t at, std::span<std::byte> into,
                           Scratch& scratch) const;

  wire::ReadMode mode_;
  Bytes block_;
};

// Takes the pages out of this process's page tables; they stay in the page cache.
void unmap_pages(std::span<const std::byte> mapped);

}  // namespace hearth::worker

// SPDX-License-Identifier: Apache-2.0
#include "worker/file_pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace hearth::worker {
namespace {

// Linux 6.5's cachestat(2); older C libraries have no wrapper.
constexpr long kCachestat = 451;
struct CachestatRange {
  std::uint64_t offset, length;
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

// Suits every device that O_DIRECT knows.
constexpr std::uint64_t kDirectAlignment = 4096;

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

struct Pages {
  std::byte* begin;
  std::size_t size;
};
// The whole pages that hold these bytes.
Pages pages_around(std::span<const std::byte> bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t begin = first / page_size() * page_size();
  const std::uintptr_t end = (first + bytes.size() + page_size() - 1) / page_size() * page_size();
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

// By mincore(2), where the kernel is too old for cachestat(2) or a sandbox forbids it.
Bytes missing_in(std::span<const std::byte> mapped) {
  const Pages pages = pages_around(mapped);
  std::vector<unsigned char> resident(pages.size / page_size());
  if (::mincore(pages.begin, pages.size, resident.data()) != 0) return Bytes{mapped.size()};
  const auto missing = std::count_if(resident.begin(), resident.end(),
                                     [](unsigned char page) { return (page & 1) == 0; });
  return std::min(Bytes{static_cast<std::uint64_t>(missing) * page_size()}, Bytes{mapped.size()});
}

FilePages::Range part_of(const FilePages::Range& range, std::size_t at, std::size_t size) {
  return {range.file, range.offset + at, range.mapped.subspan(at, size)};
}

Failed cancelled() { return fail(ErrorCode::kCancelled, "the load was given up"); }

}  // namespace

Bytes FilePages::missing_of(const Range& range) {
  CachestatRange asked{range.offset, range.mapped.size()};
  Cachestat stat{};
  if (::syscall(kCachestat, range.file, &asked, &stat, 0) != 0) return missing_in(range.mapped);
  const std::uint64_t first = range.offset / page_size();
  const std::uint64_t last = (range.offset + range.mapped.size() + page_size() - 1) / page_size();
  const std::uint64_t missing = last - first - std::min(stat.cached, last - first);
  return std::min(Bytes{missing * page_size()}, Bytes{range.mapped.size()});
}

void FilePages::Scratch::Free::operator()(std::byte* memory) const { std::free(memory); }

Result<> FilePages::map(const Range& range, Scratch& scratch, const OnBlock& on_block) const {
  std::size_t done = 0;
  while (done < range.mapped.size()) {
    const std::size_t size = std::min<std::size_t>(block_.count(), range.mapped.size() - done);
    const auto part = range.mapped.subspan(done, size);
    const bool missing = missing_of(part_of(range, done, size)) > Bytes{};
    if (missing && mode_ == wire::ReadMode::kMapped) {
      // Ahead of the faults, and with the next block, so that the device always has work.
      const std::size_t ahead =
          std::min<std::size_t>(2 * block_.count(), range.mapped.size() - done);
      ::posix_fadvise(range.file, static_cast<off_t>(range.offset + done),
                      static_cast<off_t>(ahead), POSIX_FADV_WILLNEED);
    } else if (missing) {
      scratch.bytes.resize(size);
      if (auto got = read(range.file, range.offset + done, scratch.bytes); !got) return got;
    }
    const Pages pages = pages_around(part);
    if (::madvise(pages.begin, pages.size, MADV_POPULATE_READ) != 0) {
      // An old kernel does not know it, or the device or the file is at fault: a read tells.
      scratch.bytes.resize(size);
      if (auto got = read(range.file, range.offset + done, scratch.bytes); !got) return got;
    }
    done += size;
    if (!on_block(Bytes{size})) return cancelled();
  }
  return {};
}

Result<> FilePages::copy(const Range& range, std::span<std::byte> into, Scratch& scratch,
                         const OnBlock& on_block) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::size_t size = std::min<std::size_t>(block_.count(), into.size() - done);
    const auto part = into.subspan(done, size);
    bool direct = false;
    if (mode_ == wire::ReadMode::kDirect && missing_of(part_of(range, done, size)) > Bytes{}) {
      auto got = read_direct(range, done, part, scratch);
      if (!got) return Failed{std::move(got).error()};
      direct = *got;
    }
    if (!direct) {
      if (auto got = read(range.file, range.offset + done, part); !got) return got;
    }
    done += size;
    if (!on_block(Bytes{size})) return cancelled();
  }
  return {};
}

Result<> FilePages::read(int file, std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t n =
        ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read the model's file", errno, ErrorCode::kUnavailable);
    if (n == 0) return fail(ErrorCode::kCorrupt, "the model's file has become shorter");
    done += static_cast<std::size_t>(n);
  }
  return {};
}

// False: this file or file system cannot be read past the page cache.
Result<bool> FilePages::read_direct(const Range& range, std::uint64_t at, std::span<std::byte> into,
                                    Scratch& scratch) const {
  const std::uint64_t first = (range.offset + at) / kDirectAlignment * kDirectAlignment;
  const std::uint64_t skip = range.offset + at - first;
  const std::uint64_t size =
      (skip + into.size() + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
  if (scratch.aligned_size < size) {
    scratch.aligned.reset(static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, size)));
    scratch.aligned_size = scratch.aligned ? size : 0;
    if (!scratch.aligned) return false;
  }
  const std::string path = fmt::format("/proc/self/fd/{}", range.file);
  const Fd file{::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)};
  if (!file) return false;
  std::uint64_t done = 0;
  while (done < skip + into.size()) {
    const ssize_t n = ::pread(file.get(), scratch.aligned.get() + done, size - done,
                              static_cast<off_t>(first + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EINVAL) return false;
    if (n < 0) return fail_errno("read the model's file", errno, ErrorCode::kUnavailable);
    if (n == 0) return fail(ErrorCode::kCorrupt, "the model's file has become shorter");
    done += static_cast<std::uint64_t>(n);
    if (done % kDirectAlignment != 0) break;  // the end of the file
  }
  if (done < skip + into.size()) return false;
  std::memcpy(into.data(), scratch.aligned.get() + skip, into.size());
  return true;
}

void unmap_pages(std::span<const std::byte> mapped) {
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data());
  const std::uintptr_t first = (begin + page_size() - 1) / page_size() * page_size();
  const std::uintptr_t last = (begin + mapped.size()) / page_size() * page_size();
  if (last > first) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace hearth::worker

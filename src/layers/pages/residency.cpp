// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/residency.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {
namespace {

// Debian 12's headers are older than the call; the number is the same on every architecture.
constexpr long kCachestatNumber = 451;

struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t length;
};
struct CachestatCounts {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t writeback;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::optional<Residency> by_cachestat(const Fd& file, Range range) {
  CachestatRange asked{range.offset, range.size.count()};
  CachestatCounts pages{};
  if (::syscall(kCachestatNumber, file.get(), &asked, &pages, 0U) != 0) return std::nullopt;
  const auto bytes = [&](std::uint64_t count) {
    return std::min(Bytes{count * page_size()}, range.size);
  };
  Residency found;
  found.total = range.size;
  found.resident = bytes(pages.cached);
  found.dirty = bytes(pages.dirty + pages.writeback);
  found.evicted = bytes(pages.evicted);
  found.recently_evicted = bytes(pages.recently_evicted);
  return found;
}

// For other people's read-only files mincore() says that all pages are resident.
bool mincore_tells_the_truth(const Fd& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return false;
  if (status.st_uid == ::geteuid()) return true;
  const std::string self = "/proc/self/fd/" + std::to_string(file.get());
  return ::access(self.c_str(), W_OK) == 0;
}

std::optional<Residency> by_mincore(const Fd& file, Range range) {
  if (!mincore_tells_the_truth(file)) return std::nullopt;
  const std::uint64_t page = page_size();
  const std::uint64_t begin = range.offset / page * page;
  const auto length = static_cast<std::size_t>(range.end() - begin);
  void* map = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(begin));
  if (map == MAP_FAILED) return std::nullopt;
  std::vector<unsigned char> pages((length + page - 1) / page);
  const int rc = ::mincore(map, length, pages.data());
  ::munmap(map, length);
  if (rc != 0) return std::nullopt;
  const auto count =
      std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; });
  Residency found;
  found.total = range.size;
  found.resident = std::min(Bytes{static_cast<std::uint64_t>(count) * page}, range.size);
  found.method = ResidencyMethod::kMincore;
  return found;
}

}  // namespace

std::string_view name_of(ResidencyMethod method) {
  constexpr std::array<std::string_view, 3> kNames{"cachestat", "mincore", "unknown"};
  return kNames[static_cast<std::size_t>(method)];
}

void Residency::add(const Residency& other) {
  total += other.total;
  resident += other.resident;
  dirty += other.dirty;
  evicted += other.evicted;
  recently_evicted += other.recently_evicted;
  method = std::max(method, other.method);
}

Residency residency_of(const Fd& file, Range range) {
  if (range.size == Bytes{}) return {};
  if (const auto found = by_cachestat(file, range)) return *found;
  if (const auto found = by_mincore(file, range)) return *found;
  Residency unknown;
  unknown.total = range.size;
  unknown.method = ResidencyMethod::kUnknown;
  return unknown;
}

Result<Residency> measure_residency(const Files& files, const LoadSet& load_set) {
  Residency sum;
  for (const FileRanges& part : load_set) {
    Result<Fd> file = files.open_read(part.path);
    if (!file) return Failed{std::move(file).error()};
    for (const Range& range : part.ranges) sum.add(residency_of(*file, range));
  }
  return sum;
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#include "keeper/locks.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "base/files.h"

namespace hearth::keeper {
namespace {

constexpr int kCapIpcLock = 14;

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

bool has_lock_capability() {
  const std::string status = read_small_file("/proc/self/status");
  constexpr std::string_view kField = "CapEff:\t";
  const std::size_t at = status.find(kField);
  if (at == std::string::npos) return false;
  std::uint64_t mask = 0;
  const char* begin = status.data() + at + kField.size();
  std::from_chars(begin, status.data() + status.size(), mask, 16);
  return ((mask >> kCapIpcLock) & 1) != 0;
}

std::string mebibytes(Bytes bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes.count()) / (1 << 20));
}

// How to be allowed `wanted`, whichever way the server was started.
std::string how_to_have(Bytes wanted) {
  const std::uint64_t mebi = (wanted.count() >> 20) + 1;
  return fmt::format(
      "as a service: LimitMEMLOCK={0}M in its unit; in a container: docker run --ulimit "
      "memlock={1}:{1}; from a shell: `ulimit -l {2}`, where the hard limit allows it; or for "
      "good: "
      "`sudo setcap cap_ipc_lock=+ep` on hearth-keeper, which lies beside hearth",
      mebi, mebi << 20, mebi << 10);
}

Failed too_much(Bytes wanted, Bytes limit) {
  return fail(ErrorCode::kNoSpace,
              fmt::format("locking {} of pages exceeds what this server may lock ({}, "
                          "RLIMIT_MEMLOCK); {}",
                          mebibytes(wanted), mebibytes(limit), how_to_have(wanted)));
}

Failed refused(int error, Bytes wanted) {
  const std::optional<Bytes> limit = lock_limit();
  return fail(
      ErrorCode::kNoSpace,
      fmt::format("the system refused to lock {} of pages ({}); this server may lock {}; pin less "
                  "with --bytes or free memory{}",
                  mebibytes(wanted), std::strerror(error), limit ? mebibytes(*limit) : "any amount",
                  limit ? "; " + how_to_have(wanted) : std::string{}));
}

}  // namespace

std::optional<Bytes> lock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY || has_lock_capability()) return std::nullopt;
  return Bytes{limit.rlim_cur};
}

Locks::Mapping::Mapping(Mapping&& other) noexcept
    : address_{std::exchange(other.address_, nullptr)}, length_{other.length_} {}

Locks::Mapping::~Mapping() {
  if (address_ != nullptr) ::munmap(address_, length_);
}

Result<> Locks::Mapping::lock(std::size_t step, const GoOn& go_on) const {
  for (std::size_t at = 0; at < length_; at += step) {
    if (!go_on()) return fail(ErrorCode::kConflict, "unpinned while its pages were being locked");
    const std::size_t part = std::min(step, length_ - at);
    if (::mlock(static_cast<char*>(address_) + at, part) != 0)
      return refused(errno, Bytes{length_});
  }
  return {};
}

// The kernel counts a page for each mapping that it is locked in, so no two may share one.
Result<std::vector<Locks::Span>> Locks::spans_of(const wire::KeepMessage& what, std::size_t files) {
  std::vector<Span> all;
  for (const wire::KeepMessage::Piece& piece : what.pieces) {
    const auto file = static_cast<std::size_t>(piece.file);
    if (file >= files || piece.size == Bytes{}) {
      return fail(ErrorCode::kCorrupt, "a piece of no file");
    }
    const std::uint64_t end = piece.offset + piece.size.count();
    all.push_back({file, piece.offset / page_size() * page_size(),
                   (end + page_size() - 1) / page_size() * page_size()});
  }
  std::ranges::sort(all, {}, [](const Span& span) { return std::pair{span.file, span.begin}; });
  std::vector<Span> merged;
  for (const Span& span : all) {
    const bool joins =
        !merged.empty() && merged.back().file == span.file && span.begin <= merged.back().end;
    if (joins) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

Result<Locks::Mapping> Locks::map(const Span& span, const std::vector<Fd>& files) {
  const auto length = static_cast<std::size_t>(span.end - span.begin);
  void* address = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, files[span.file].get(),
                         static_cast<off_t>(span.begin));
  if (address == MAP_FAILED) return fail_errno("map a model's pages", errno);
  return Mapping{address, length};
}

Result<> Locks::keep(std::uint64_t id, const wire::KeepMessage& what, const std::vector<Fd>& files,
                     const GoOn& go_on) {
  forget(id);
  const Result<std::vector<Span>> spans = spans_of(what, files.size());
  if (!spans) return Failed{spans.error()};
  std::vector<Mapping> mappings;
  Bytes wanted = locked();
  for (const Span& span : *spans) {
    Result<Mapping> mapping = map(span, files);
    if (!mapping) return Failed{std::move(mapping).error()};
    wanted += Bytes{mapping->length()};
    mappings.push_back(std::move(*mapping));
  }
  const std::optional<Bytes> limit = lock_limit();
  if (limit && wanted > *limit) return too_much(wanted, *limit);
  for (const Mapping& mapping : mappings) {
    if (auto locked = mapping.lock(step_.count(), go_on); !locked) return locked;
  }
  held_.emplace(id, std::move(mappings));
  return {};
}

Bytes Locks::locked() const {
  Bytes total;
  for (const auto& [id, mappings] : held_) {
    for (const Mapping& mapping : mappings) total += Bytes{mapping.length()};
  }
  return total;
}

}  // namespace hearth::keeper

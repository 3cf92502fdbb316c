// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/file_pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "lab/machine/processes.h"
#include "layers/pages/residency.h"

namespace hearth::lab {
namespace {

using namespace literals;
using namespace std::chrono_literals;

constexpr double kTolerance = 0.01;
constexpr std::uint64_t kLargestPiece = 256 << 10;
constexpr auto kPatience = 5s;

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::uint64_t whole_pages(std::uint64_t bytes) {
  return std::max<std::uint64_t>(1, bytes / page_size()) * page_size();
}

// Deterministic: std::shuffle may differ from one library to the next.
std::vector<std::uint64_t> shuffled(std::uint64_t count) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 engine{count};
  for (std::uint64_t n = count; n > 1; --n) std::swap(order[n - 1], order[engine() % n]);
  return order;
}

std::vector<Range> spread(std::uint64_t size, double share) {
  const std::uint64_t piece = std::min(kLargestPiece, whole_pages(size / 400));
  const std::uint64_t count = (size + piece - 1) / piece;
  const auto wanted = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(count)));
  std::vector<std::uint64_t> chosen = shuffled(count);
  chosen.resize(std::min(wanted, count));
  std::ranges::sort(chosen);
  std::vector<Range> ranges;
  for (const std::uint64_t n : chosen) {
    ranges.push_back({n * piece, Bytes{std::min(piece, size - n * piece)}});
  }
  return ranges;
}

Result<> read_ranges(const Files& files, const Fd& file, const std::vector<Range>& ranges) {
  std::vector<std::byte> buffer(4 << 20);
  for (const Range& range : ranges) {
    for (std::uint64_t at = range.offset; at < range.end();) {
      const std::size_t length = std::min<std::uint64_t>(buffer.size(), range.end() - at);
      const auto got = files.read_at(file, at, std::span{buffer}.first(length));
      if (!got) return Failed{got.error()};
      if (*got == 0) return {};
      at += *got;
    }
  }
  return {};
}

struct Opened {
  Fd file;
  Bytes size;
};

Result<Opened> opened(const Files& files, const std::string& path) {
  Result<Fd> file = files.open_read(path);
  if (!file) return Failed{std::move(file).error()};
  const Result<FileInfo> info = files.info(*file);
  if (!info) return Failed{info.error()};
  return Opened{std::move(*file), info->size};
}

// Of a small file one page is much.
double tolerance_for(Bytes size) {
  return std::max(kTolerance, static_cast<double>(page_size()) / static_cast<double>(size.count()));
}

double share_of(const Opened& opened) {
  if (opened.size == Bytes{}) return 1.0;
  return residency_of(opened.file, {0, opened.size}).fraction();
}

bool is_known(const Opened& opened) {
  return residency_of(opened.file, {0, opened.size}).method != ResidencyMethod::kUnknown;
}

// A page that a processor has on a list of its own is passed over, hence again until none is left.
double drop(const Files& files, const Opened& opened, double enough) {
  (void)files.sync(opened.file);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    files.drop_cached(opened.file, 0, opened.size);
    const double left = share_of(opened);
    if (left <= enough || std::chrono::steady_clock::now() >= deadline) return left;
    // What somebody maps will not go, however long it is waited for.
    if (left > 0.05 && std::chrono::steady_clock::now() > deadline - kPatience + 1s) return left;
    std::this_thread::sleep_for(10ms);
  }
}

Failed not_dropped(const Files& files, const std::string& path, double left) {
  const std::vector<std::string> who = who_maps(files.real_path(path).value_or(path));
  const std::string share = fmt::format("{:.1f} % of {} cannot be dropped", 100 * left, path);
  if (who.empty()) return fail(ErrorCode::kUnavailable, share + ", and nobody is known to map it");
  return fail(ErrorCode::kConflict, fmt::format("{}: mapped by {}", share, fmt::join(who, ", ")));
}

}  // namespace

std::vector<Range> pieces_of(Bytes size, double share, PagePattern pattern) {
  if (share <= 0 || size == Bytes{}) return {};
  if (share >= 1) return {{0, size}};
  if (pattern == PagePattern::kSpread) return spread(size.count(), share);
  const auto head = static_cast<std::uint64_t>(share * static_cast<double>(size.count()));
  return {{0, Bytes{std::min(whole_pages(head), size.count())}}};
}

Result<> set_file_pages(const Files& files, const std::string& path, double share,
                        PagePattern pattern) {
  const Result<Opened> target = opened(files, path);
  if (!target) return Failed{target.error()};
  if (target->size == Bytes{}) return {};
  if (!is_known(*target)) {
    return fail(ErrorCode::kUnavailable, "the kernel does not say which pages are resident");
  }
  const std::vector<Range> pieces = pieces_of(target->size, share, pattern);
  const double tolerance = tolerance_for(target->size);
  if (share < 1) {
    const double left = drop(files, *target, 0.0);
    if (left > (pieces.empty() ? share + tolerance : tolerance)) {
      return not_dropped(files, path, left);
    }
    // Nothing beyond what is asked for.
    (void)::posix_fadvise(target->file.get(), 0, 0, POSIX_FADV_RANDOM);
  }
  if (Result<> read = read_ranges(files, target->file, pieces); !read) return read;
  const double found = share_of(*target);
  if (std::abs(found - share) <= tolerance) return {};
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("{:.1f} % of {} are resident instead of {:.1f} %: memory is too small, or "
                  "somebody else reads it",
                  100 * found, path, 100 * share));
}

Result<> read_back(const Files& files, const std::string& path, double share) {
  const Result<Opened> target = opened(files, path);
  if (!target) return Failed{target.error()};
  return read_ranges(files, target->file, pieces_of(target->size, share, PagePattern::kHead));
}

bool is_kept(const Files& files, const std::string& path, double share) {
  const Result<Opened> target = opened(files, path);
  if (!target || target->size == Bytes{}) return target.has_value();
  return std::abs(share_of(*target) - share) <= tolerance_for(target->size);
}

Result<double> resident_share(const Files& files, const std::string& path) {
  const Result<Opened> target = opened(files, path);
  if (!target) return Failed{target.error()};
  if (!is_known(*target)) {
    return fail(ErrorCode::kUnavailable, "the kernel does not say which pages are resident");
  }
  return share_of(*target);
}

}  // namespace hearth::lab

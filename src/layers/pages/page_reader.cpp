// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/page_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "layers/pages/residency.h"

namespace hearth {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
// Pieces that the kernel is told of ahead, so that the device is never idle between two reads.
constexpr std::size_t kAhead = 2;

struct Piece {
  std::size_t file = 0;  // index into the load set
  Range range;
  Bytes missing;
};

struct Plan {
  std::vector<Fd> files;
  std::vector<Piece> pieces;
  Bytes missing;
};

void plan_range(Plan& plan, Range range) {
  const Fd& file = plan.files.back();
  for (std::uint64_t at = range.offset; at < range.end(); at += kPiece) {
    const Range piece{at, Bytes{std::min(kPiece, range.end() - at)}};
    const Bytes missing = residency_of(file, piece).missing();
    if (missing == Bytes{}) continue;
    plan.pieces.push_back(Piece{plan.files.size() - 1, piece, missing});
    plan.missing += missing;
  }
}

Result<Plan> plan_reads(const Files& files, const LoadSet& load_set) {
  Plan plan;
  for (const FileRanges& part : load_set) {
    Result<Fd> file = files.open_read(part.path);
    if (!file) return Failed{std::move(file).error()};
    plan.files.push_back(std::move(*file));
    for (const Range& range : part.ranges) plan_range(plan, range);
  }
  return plan;
}

void announce(const Plan& plan, std::size_t index) {
  if (index >= plan.pieces.size()) return;
  const Piece& piece = plan.pieces[index];
  // Only a hint: where it fails, the read itself will do.
  ::posix_fadvise(plan.files[piece.file].get(), static_cast<off_t>(piece.range.offset),
                  static_cast<off_t>(piece.range.size.count()), POSIX_FADV_WILLNEED);
}

Result<> read_piece(const Files& files, const Plan& plan, const Piece& piece,
                    std::vector<std::byte>& buffer) {
  buffer.resize(static_cast<std::size_t>(piece.range.size.count()));
  const Result<std::size_t> got = files.read_at(plan.files[piece.file], piece.range.offset, buffer);
  if (!got) return Failed{got.error()};
  if (*got < buffer.size()) return fail(ErrorCode::kCorrupt, "the file has become shorter");
  return {};
}

}  // namespace

Result<ReadReport> read_missing(const Files& files, const Clock& clock, const LoadSet& load_set,
                                Progress& progress) {
  const Result<Plan> plan = plan_reads(files, load_set);
  if (!plan) return Failed{plan.error()};
  ReadReport report;
  std::vector<std::byte> buffer;
  const TimePoint begin = clock.now();
  for (std::size_t i = 0; i < std::min(kAhead, plan->pieces.size()); ++i) announce(*plan, i);
  progress.report(Bytes{}, plan->missing);
  for (std::size_t i = 0; i < plan->pieces.size(); ++i) {
    if (progress.cancelled()) {
      report.time = clock.now() - begin;
      return report;
    }
    announce(*plan, i + kAhead);
    const Piece& piece = plan->pieces[i];
    if (auto done = read_piece(files, *plan, piece, buffer); !done) {
      return Failed{std::move(done).error().during("read " + load_set[piece.file].path)};
    }
    report.read += piece.missing;
    progress.report(report.read, plan->missing);
  }
  report.time = clock.now() - begin;
  report.complete = true;
  return report;
}

Result<Bytes> drop_pages(const Files& files, const LoadSet& load_set) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Bytes gone;
  for (const FileRanges& part : load_set) {
    Result<Fd> file = files.open_read(part.path);
    if (!file) return Failed{std::move(file).error()};
    for (const Range& range : part.ranges) {
      const Residency before = residency_of(*file, range);
      if (before.dirty > Bytes{}) ::fdatasync(file->get());
      // The kernel drops whole pages inside what it is told, so tell it of the pages that stick
      // out.
      const std::uint64_t begin = range.offset / page * page;
      const std::uint64_t end = (range.end() + page - 1) / page * page;
      const int error = ::posix_fadvise(file->get(), static_cast<off_t>(begin),
                                        static_cast<off_t>(end - begin), POSIX_FADV_DONTNEED);
      if (error != 0) return fail_errno("drop pages of " + part.path, error);
      gone += before.resident - residency_of(*file, range).resident;
    }
  }
  return gone;
}

}  // namespace hearth

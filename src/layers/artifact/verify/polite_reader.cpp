// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/verify/polite_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "layers/pages/residency.h"

namespace hearth {
namespace {

using namespace literals;

constexpr Bytes kPiece = 1_MiB;

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

void append(std::vector<Range>& ranges, Range range) {
  if (!ranges.empty() && ranges.back().end() == range.offset) {
    ranges.back().size += range.size;
  } else {
    ranges.push_back(range);
  }
}

void find_absent(const Fd& file, Range range, std::vector<Range>& found) {
  const Residency now = residency_of(file, range);
  if (now.method == ResidencyMethod::kUnknown || now.resident == now.total) return;
  if (now.resident == Bytes{}) return append(found, range);
  const std::uint64_t half = range.size.count() / 2 / page_size() * page_size();
  if (half == 0) return;
  find_absent(file, Range{range.offset, Bytes{half}}, found);
  find_absent(file, Range{range.offset + half, range.size - Bytes{half}}, found);
}

}  // namespace

std::vector<Range> absent_from_cache(const Fd& file, Range range) {
  std::vector<Range> found;
  if (range.size > Bytes{}) find_absent(file, range, found);
  return found;
}

PoliteReader::PoliteReader(const Files& files) : files_{&files}, buffer_(kPiece.count()) {}

Result<> PoliteReader::open(const std::string& path) {
  Result<Fd> file = files_->open_read(path);
  if (!file) return Failed{std::move(file).error()};
  file_ = std::move(*file);
  // Read-ahead would bring pages that then look as if they had been there before.
  (void)::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_RANDOM);
  return {};
}

Result<> PoliteReader::read(Range range, const Take& take) {
  for (std::uint64_t at = range.offset; at < range.end(); at += kPiece.count()) {
    const Range piece{at, std::min(kPiece, Bytes{range.end() - at})};
    if (auto done = read_piece(piece, take); !done) return done;
  }
  return {};
}

Result<> PoliteReader::read_piece(Range piece, const Take& take) {
  const std::vector<Range> absent = absent_from_cache(file_, piece);
  const std::span<std::byte> into = std::span{buffer_}.first(piece.size.count());
  const Result<std::size_t> read = files_->read_at(file_, piece.offset, into);
  for (const Range& range : absent) files_->drop_cached(file_, range.offset, range.size);
  if (!read) return Failed{read.error()};
  if (*read < into.size()) return fail(ErrorCode::kConflict, "the file became shorter");
  take(into);
  return {};
}

}  // namespace hearth

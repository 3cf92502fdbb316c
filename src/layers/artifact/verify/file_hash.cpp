// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/verify/file_hash.h"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

Failed changed() { return fail(ErrorCode::kConflict, "the file changed while it was read"); }

}  // namespace

FileHash::FileHash(const Files& files, std::string path, const FileInfo& noted, HashProgress from)
    : files_{&files},
      path_{std::move(path)},
      noted_{noted},
      reader_{files},
      whole_{from.state},
      parts_{std::move(from.parts)},
      position_{from.state.bytes} {}

Result<FileHash> FileHash::open(const Files& files, std::string path, const FileInfo& noted,
                                HashProgress from) {
  const Bytes begin{from.state.bytes};
  if (begin > noted.size || begin.count() != from.parts.size() * kPart.count()) from = {};
  if (from.parts.empty()) from.state = *ResumableSha256{}.state();
  FileHash hash{files, std::move(path), noted, std::move(from)};
  if (auto opened = hash.reader_.open(hash.path_); !opened) {
    return Failed{std::move(opened).error()};
  }
  if (auto same = hash.check_unchanged(); !same) return Failed{std::move(same).error()};
  return hash;
}

// By descriptor for writes, by name for what was renamed into the file's place.
Result<> FileHash::check_unchanged() const {
  const Result<FileInfo> open = files_->info(reader_.file());
  if (!open) return Failed{open.error()};
  const Result<FileInfo> named = files_->info(path_);
  if (!named) return Failed{named.error()};
  if (*open != noted_ || *named != noted_) return changed();
  return {};
}

Result<> FileHash::hash_part() {
  Sha256 part;
  const Range range = part_range(parts_.size(), noted_.size);
  const auto take = [&](std::span<const std::byte> bytes) {
    whole_.add(bytes);
    part.add(bytes);
  };
  if (auto read = reader_.read(range, take); !read) return read;
  parts_.push_back(part.finish());
  position_ = Bytes{range.end()};
  return {};
}

Result<> FileHash::step() {
  const Bytes end = std::min(position_ + kStep, noted_.size);
  while (position_ < end) {
    if (auto hashed = hash_part(); !hashed) return hashed;
  }
  return check_unchanged();
}

HashProgress FileHash::progress() const {
  return {whole_.state().value_or(ResumableSha256::State{}), parts_};
}

FileHash::Hashed FileHash::finish() {
  const Digest digest = whole_.finish();
  return {hex_of(digest), std::move(parts_)};
}

std::vector<std::size_t> differing(const std::vector<Digest>& known,
                                   const std::vector<Digest>& found) {
  std::vector<std::size_t> bad;
  for (std::size_t i = 0; i < std::max(known.size(), found.size()); ++i) {
    if (i >= known.size() || i >= found.size() || known[i] != found[i]) bad.push_back(i);
  }
  return bad;
}

Range part_range(std::size_t part, Bytes size) {
  const std::uint64_t begin = part * FileHash::kPart.count();
  return Range{begin, std::min(FileHash::kPart, size - Bytes{begin})};
}

}  // namespace hearth

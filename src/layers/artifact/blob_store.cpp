// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/blob_store.h"

#include <fmt/format.h>

#include <utility>

#include "base/size_text.h"
#include "layers/artifact/blob_errors.h"
#include "layers/artifact/blob_name.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

using namespace literals;

constexpr mode_t kOwnerOnly = 0700;
constexpr Bytes kLeftOver = 16_MiB;
constexpr std::string_view kPartsSuffix = ".parts";
constexpr std::string_view kNewSuffix = ".new";
constexpr std::int64_t kNsPerUs = 1000;

Result<std::string> checked(std::string_view sha256) {
  if (is_sha256(sha256)) return std::string{sha256};
  return fail(ErrorCode::kInvalid, "a SHA-256 has 64 hexadecimal digits");
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace

BlobStore::BlobStore(const Files& files, std::string directory)
    : files_{&files}, directory_{std::move(directory)} {}

std::string BlobStore::path_of(std::string_view sha256) const {
  return blobs_directory() + "/" + blob_name(sha256);
}

Result<> BlobStore::make(const std::string& directory) const {
  if (files_->info(directory)) return {};
  auto made = files_->make_directories(directory, kOwnerOnly);
  // The names of the new directories, upwards to the one that holds the store.
  for (std::string at = parent_of(directory); made; at = parent_of(at)) {
    made = files_->sync_directory(at);
    if (at.size() < directory_.size()) break;
  }
  if (!made) return not_stored(made.error(), directory_);
  return {};
}

Result<BlobStore::Blob> BlobStore::blob(std::string_view sha256) const {
  Result<std::string> name = checked(sha256);
  if (!name) return Failed{std::move(name).error()};
  Blob blob{std::move(*name), path_of(sha256), {}, 0};
  const Result<FileInfo> info = files_->link_info(blob.path);
  if (!info && info.error().code() != ErrorCode::kNotFound) return Failed{info.error()};
  if (!info || info->kind != FileKind::kRegular) {
    return fail(ErrorCode::kNotFound, fmt::format("no blob sha256:{}", sha256));
  }
  blob.size = info->size;
  blob.modified_us = info->modified_ns / kNsPerUs;
  return blob;
}

Result<std::vector<BlobStore::Blob>> BlobStore::blobs() const {
  const Result<std::vector<std::string>> names = files_->list(blobs_directory());
  if (!names && names.error().code() == ErrorCode::kNotFound) return std::vector<Blob>{};
  if (!names) return Failed{names.error()};
  std::vector<Blob> all;
  for (const std::string& name : *names) {
    const std::optional<std::string> sha256 = digest_in_blob_name(name);
    if (!sha256) continue;
    Result<Blob> found = blob(*sha256);
    if (!found && found.error().code() == ErrorCode::kNotFound) continue;
    if (!found) return Failed{std::move(found).error()};
    all.push_back(std::move(*found));
  }
  return all;
}

Result<transfer::PartDigests> BlobStore::parts(std::string_view sha256) const {
  const Result<std::string> name = checked(sha256);
  if (!name) return Failed{name.error()};
  const Result<Fd> file = files_->open_read(path_of(sha256) + std::string{kPartsSuffix});
  if (!file) return Failed{file.error()};
  return transfer::read_part_digests(*files_, *file);
}

// What is there stays until the new ones are on the device.
Result<> BlobStore::write_parts(const transfer::PartDigests& digests) const {
  const Result<Blob> whole = blob(hex_of(digests.whole));
  if (!whole) return Failed{whole.error()};
  const std::string path = whole->path + std::string{kPartsSuffix};
  const std::string fresh = path + std::string{kNewSuffix};
  const Result<Fd> file = files_->open_write(fresh, Files::Create::kIfMissing);
  if (!file) return not_stored(file.error(), directory_);
  Result<> written = transfer::write_part_digests(*files_, *file, digests);
  if (written) written = files_->sync(*file);
  if (written) written = files_->rename(fresh, path);
  if (written) written = files_->sync_directory(blobs_directory());
  if (!written) return not_stored(written.error(), directory_);
  return {};
}

// The digests go first: without the blob they would be nobody's.
Result<Bytes> BlobStore::remove(std::string_view sha256) const {
  const Result<Blob> known = blob(sha256);
  if (!known) return Failed{known.error()};
  const std::string digests = known->path + std::string{kPartsSuffix};
  (void)files_->remove(digests + std::string{kNewSuffix});  // of a write that was cut short
  Result<> removed = files_->remove(digests);
  if (removed || removed.error().code() == ErrorCode::kNotFound) {
    removed = files_->remove(known->path);
  }
  if (removed) removed = files_->sync_directory(blobs_directory());
  if (!removed) return not_stored(removed.error(), directory_);
  return known->size;
}

Result<> BlobStore::require(Bytes need) const {
  std::string at = directory_;
  Result<Space> space = files_->space(at);
  while (!space && space.error().code() == ErrorCode::kNotFound && at != "/") {
    at = parent_of(at);
    space = files_->space(at);
  }
  if (!space) return Failed{std::move(space).error()};
  if (need == Bytes{} || space->free >= need + kLeftOver) return {};
  return fail(ErrorCode::kNoSpace,
              fmt::format("needs {}, {} are free on {}; free some or set `data` elsewhere",
                          size_text(need), size_text(space->free), directory_));
}

// `from` is complete; its content is on the device before its name is.
Result<> BlobStore::take_in(const std::string& from, std::string_view sha256) const {
  if (auto made = make(blobs_directory()); !made) return made;
  Result<> done = files_->rename(from, path_of(sha256));
  if (done) done = files_->sync_directory(blobs_directory());
  if (done) done = files_->sync_directory(parent_of(from));
  if (!done) return not_stored(done.error(), directory_);
  return {};
}

}  // namespace hearth

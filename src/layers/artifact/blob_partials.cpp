// SPDX-License-Identifier: Apache-2.0
//
// BlobStore's partial downloads.
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "layers/artifact/blob_errors.h"
#include "layers/artifact/blob_name.h"
#include "layers/artifact/blob_store.h"
#include "layers/artifact/source/source_text.h"
#include "transfer/part_journal.h"

namespace hearth {
namespace {

constexpr std::int64_t kNsPerUs = 1000;
constexpr std::size_t kLongestAbout = 64 << 10;
constexpr int kOpenTries = 3;
constexpr std::uint64_t kStatBlock = 512;

const char* const kData = "/data";
const char* const kJournal = "/journal";
const char* const kAbout = "/about.json";
const char* const kNewAbout = "/about.new";

Failed busy() {
  return fail(ErrorCode::kConflict,
              "this file is being fetched already; wait until that has ended");
}

// A key is a name that key_of() makes, and nothing else.
bool is_key(std::string_view key) {
  const std::size_t dash = key.find('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view kind = key.substr(0, dash);
  return (kind == "sha256" || kind == "url") && is_sha256(key.substr(dash + 1));
}

// The journal, locked. The lock goes with the last descriptor that was made from this one, so also
// a fetcher that has not ended yet holds it.
Result<Fd> lock_journal(const Files& files, const std::string& path, Files::Create create) {
  for (int i = 0; i < kOpenTries; ++i) {
    Result<Fd> journal = files.open_write(path, create);
    if (!journal) return journal;
    if (::flock(journal->get(), LOCK_EX | LOCK_NB) != 0) return busy();
    // Whoever had it before may have removed it meanwhile.
    const Result<FileInfo> held = files.info(*journal);
    const Result<FileInfo> named = files.info(path);
    if (held && named && held->inode == named->inode) return journal;
  }
  return busy();
}

// What a file has taken of the device: room is taken for all of it before its bytes come. At least
// its size, where the file system counts later.
Bytes taken_by(const std::string& path, Bytes size) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return size;
  return std::max(size, Bytes{static_cast<std::uint64_t>(status.st_blocks) * kStatBlock});
}

std::string read_text(const Files& files, const std::string& path) {
  const Result<Fd> file = files.open_read(path);
  if (!file) return {};
  std::string text(kLongestAbout, '\0');
  const Result<std::size_t> got = files.read_at(*file, 0, std::as_writable_bytes(std::span{text}));
  text.resize(got ? *got : 0);
  return text;
}

Result<> write_about(const Files& files, const std::string& directory, const PartialAbout& about) {
  const std::string text = json_of(about);
  if (read_text(files, directory + kAbout) == text) return {};
  {
    const Result<Fd> file = files.open_write(directory + kNewAbout, Files::Create::kIfMissing);
    if (!file) return Failed{file.error()};
    Result<> written = files.resize(*file, Bytes{});
    if (written) written = files.write_at(*file, 0, std::as_bytes(std::span{text}));
    if (written) written = files.sync(*file);
    if (!written) return written;
  }
  if (auto renamed = files.rename(directory + kNewAbout, directory + kAbout); !renamed) {
    return renamed;
  }
  return files.sync_directory(directory);
}

}  // namespace

std::string BlobStore::partial_directory(std::string_view key) const {
  return directory_ + "/partial/" + std::string{key};
}

std::string BlobStore::key_of(const PartialAbout& about) {
  if (!about.sha256.empty()) return blob_name(about.sha256);
  const Digest digest = Sha256{}.add(about.url).finish();
  return "url-" + hex_of(digest);
}

Result<BlobStore::OpenPartial> BlobStore::open_partial(const PartialAbout& about) const {
  if (!about.sha256.empty() && !is_sha256(about.sha256)) {
    return fail(ErrorCode::kInvalid, "a SHA-256 has 64 hexadecimal digits");
  }
  OpenPartial partial;
  partial.key = key_of(about);
  const std::string directory = partial_directory(partial.key);
  if (auto made = make(directory); !made) return Failed{std::move(made).error()};
  Result<Fd> journal = lock_journal(*files_, directory + kJournal, Files::Create::kIfMissing);
  if (!journal) return not_stored(journal.error(), directory_);
  partial.journal = std::move(*journal);
  // A journal whose data is gone has nothing to tell.
  const Result<FileInfo> there = files_->link_info(directory + kData);
  Result<> ready = there ? Result<>{} : files_->resize(partial.journal, Bytes{});
  if (ready) ready = write_about(*files_, directory, about);
  if (!ready) return not_stored(ready.error(), directory_);
  Result<Fd> data = files_->open_write(directory + kData, Files::Create::kIfMissing);
  if (!data) return not_stored(data.error(), directory_);
  partial.data = std::move(*data);
  if (auto named = files_->sync_directory(directory); !named) {
    return not_stored(named.error(), directory_);
  }
  return partial;
}

Result<BlobStore::OpenPartial> BlobStore::open_repair(const PartialAbout& about) const {
  const Result<Blob> rotten = blob(about.sha256);
  if (!rotten) return Failed{rotten.error()};
  const Result<transfer::PartDigests> digests = parts(about.sha256);
  Result<OpenPartial> partial = open_partial(about);
  if (!partial) return partial;
  const std::string data = partial_directory(partial->key) + kData;
  Result<> moved = files_->resize(partial->journal, Bytes{});
  if (moved && digests) {
    moved = transfer::write_repair_journal(*files_, partial->journal, *digests);
  }
  if (moved) moved = files_->rename(rotten->path, data);
  if (moved) moved = files_->sync_directory(partial_directory(partial->key));
  if (moved) moved = files_->sync_directory(blobs_directory());
  if (!moved) return not_stored(moved.error(), directory_);
  Result<Fd> opened = files_->open_write(data, Files::Create::kNever);
  if (!opened) return not_stored(opened.error(), directory_);
  partial->data = std::move(*opened);
  return partial;
}

// After a failed sync the page cache may show what the device does not have: the next hash must
// read what is there.
Result<BlobStore::Blob> BlobStore::install(const OpenPartial& partial,
                                           std::string_view sha256) const {
  if (!is_sha256(sha256)) {
    return fail(ErrorCode::kInvalid, "a SHA-256 has 64 hexadecimal digits");
  }
  const std::string data = partial_directory(partial.key) + kData;
  const Result<FileInfo> there = files_->link_info(data);
  if (!there && there.error().code() != ErrorCode::kNotFound) return Failed{there.error()};
  if (there) {
    const Result<FileInfo> held = files_->info(partial.data);
    if (!held) return Failed{held.error()};
    if (held->inode != there->inode) {
      return fail(ErrorCode::kConflict, "another download has taken this one's place");
    }
    if (auto synced = files_->sync(partial.data); !synced) {
      files_->drop_cached(partial.data, 0, there->size);
      return not_stored(synced.error(), directory_);
    }
    if (auto taken = take_in(data, sha256); !taken) return Failed{std::move(taken).error()};
    // Without them a repair fetches everything; no reason to fail.
    (void)keep_digests(partial, sha256);
  }
  Result<Blob> installed = blob(sha256);
  if (installed) forget_partial(partial.key);
  return installed;
}

Result<> BlobStore::keep_digests(const OpenPartial& partial, std::string_view sha256) const {
  const std::optional<Digest> whole = transfer::digest_of_hex(sha256);
  if (!whole) return fail(ErrorCode::kInvalid, "no SHA-256");
  const auto digests = transfer::digests_of_journal(*files_, partial.journal, *whole);
  if (!digests) return Failed{digests.error()};
  return write_parts(*digests);
}

// What cannot be removed now is seen again by partials().
void BlobStore::forget_partial(std::string_view key) const {
  const std::string directory = partial_directory(key);
  for (const char* name : {kData, kAbout, kNewAbout, kJournal}) {
    (void)files_->remove(directory + name);
  }
  (void)files_->remove(directory);
  (void)files_->sync_directory(directory_ + "/partial");
}

Result<BlobStore::Partial> BlobStore::look_at_partial(std::string key) const {
  const std::string directory = partial_directory(key);
  Partial partial;
  partial.key = std::move(key);
  if (Result<PartialAbout> about = partial_about_of(read_text(*files_, directory + kAbout))) {
    partial.about = std::move(*about);
  }
  partial.size = partial.about.size;
  for (const char* name : {kData, kJournal}) {
    const Result<FileInfo> info = files_->link_info(directory + name);
    if (!info) continue;
    partial.on_disk += taken_by(directory + name, info->size);
    partial.touched_us = std::max(partial.touched_us, info->modified_ns / kNsPerUs);
  }
  if (const auto journal = transfer::peek_journal(*files_, directory + kJournal)) {
    partial.arrived = journal->arrived();
    partial.size = journal->header.identity.size.value_or(partial.size);
  }
  return partial;
}

Result<std::vector<BlobStore::Partial>> BlobStore::partials() const {
  const Result<std::vector<std::string>> names = files_->list(directory_ + "/partial");
  if (!names && names.error().code() == ErrorCode::kNotFound) return std::vector<Partial>{};
  if (!names) return Failed{names.error()};
  std::vector<Partial> all;
  for (const std::string& name : *names) {
    if (!is_key(name)) continue;
    Result<Partial> partial = look_at_partial(name);
    if (!partial) return Failed{std::move(partial).error()};
    all.push_back(std::move(*partial));
  }
  return all;
}

Result<Bytes> BlobStore::drop_partial(std::string_view key) const {
  const std::string directory = partial_directory(key);
  const Result<FileInfo> there =
      is_key(key) ? files_->link_info(directory) : fail(ErrorCode::kNotFound, "no such download");
  if (!there) return Failed{there.error()};
  const Result<Partial> partial = look_at_partial(std::string{key});
  if (!partial) return Failed{partial.error()};
  const Result<Fd> lock = lock_journal(*files_, directory + kJournal, Files::Create::kIfMissing);
  if (!lock) return not_stored(lock.error(), directory_);
  forget_partial(key);
  if (files_->link_info(directory + kData)) {
    return fail(ErrorCode::kUnavailable, "the download's file cannot be removed from " + directory);
  }
  return partial->on_disk;
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "layers/artifact/partial_about.h"
#include "transfer/part_digests.h"

namespace hearth {

// Files of our own, each named by the SHA-256 of what is in it:
//   blobs/sha256-<hex>        never there before all of it was hashed
//   blobs/sha256-<hex>.parts  digests of its parts, to repair it by; may be missing
//   partial/<key>/            what a download has brought so far: data, journal, about.json
//   incoming/                 uploads; what is there when a server starts is nobody's
// Directories are 0700 and made when something is first written, files 0600.
//
// Thread-safe, but two calls must not be about the same file at once, unless it says so. Blocks on
// the disk. Every error may also be kNoSpace or kUnavailable; messages say what was tried, where,
// and what to do.
class BlobStore {
 public:
  // `files` must outlive the store. Touches nothing.
  BlobStore(const Files& files, std::string directory);

  struct Blob {
    std::string sha256;
    std::string path;
    Bytes size;
    std::int64_t modified_us = 0;  // wall clock
  };
  // Errors: kInvalid, for what is no SHA-256; kNotFound.
  Result<Blob> blob(std::string_view sha256) const;
  // None when there is no store yet.
  Result<std::vector<Blob>> blobs() const;
  std::string path_of(std::string_view sha256) const;
  // Errors: kNotFound, kCorrupt.
  Result<transfer::PartDigests> parts(std::string_view sha256) const;
  // Writes them, after a blob of which there were none has been hashed. Errors: kNotFound, when the
  // blob is not there.
  Result<> write_parts(const transfer::PartDigests& digests) const;
  // What it took. Errors: kNotFound.
  Result<Bytes> remove(std::string_view sha256) const;

  // Errors: kNoSpace, with need, free, path and remedy. A little is left over for the databases.
  Result<> require(Bytes need) const;

  // ---- downloads ----

  // A partial download that is open for writing. While this or a descriptor made from it lives,
  // nobody else can open it.
  struct OpenPartial {
    std::string key;
    Fd data;
    Fd journal;
  };
  struct Partial {
    std::string key;
    PartialAbout about;  // without a source when it cannot be read any more
    Bytes arrived;       // as far as its journal tells
    Bytes size;          // zero: not known yet
    Bytes on_disk;
    std::int64_t touched_us = 0;  // wall clock: when something arrived last
  };

  // The same key for everything that is promised to be the same content, else for the same URL.
  static std::string key_of(const PartialAbout& about);
  // Begins one, or goes on with it. Errors: kConflict, while it is open elsewhere; kInvalid.
  Result<OpenPartial> open_partial(const PartialAbout& about) const;
  // The blob that `about` promises becomes a partial download of which most has arrived, so that
  // what is wrong in it is fetched again. Errors: kNotFound; those of open_partial().
  Result<OpenPartial> open_repair(const PartialAbout& about) const;
  // A finished download becomes a blob, in place of one that is there. `sha256` is what its content
  // was found to be just now. After an error what has come is still there, as a partial download or
  // as the blob: look for that, else hash it again. Doing it again is fine, too.
  // Errors: kInvalid, kNotFound (there is neither download nor blob), kConflict (`partial` is not
  // what lies there).
  Result<Blob> install(const OpenPartial& partial, std::string_view sha256) const;
  // None when there is no store yet.
  Result<std::vector<Partial>> partials() const;
  // Errors: kNotFound; kConflict, while it is open.
  Result<Bytes> drop_partial(std::string_view key) const;

  // ---- uploads ----

  class Incoming;
  // `size` as announced; zero: not known. Several may bring the same blob at once. Errors: kInvalid
  // (no SHA-256), kNoSpace.
  Result<Incoming> receive(std::string_view sha256, Bytes size) const;
  // Removes what broken uploads left. For the start: nothing may be coming in.
  Result<> sweep() const;

 private:
  std::string blobs_directory() const { return directory_ + "/blobs"; }
  std::string partial_directory(std::string_view key) const;
  std::string incoming_directory() const { return directory_ + "/incoming"; }
  Result<> make(const std::string& directory) const;
  Result<> take_in(const std::string& from, std::string_view sha256) const;
  Result<> keep_digests(const OpenPartial& partial, std::string_view sha256) const;
  Result<Partial> look_at_partial(std::string key) const;
  void forget_partial(std::string_view key) const;

  const Files* files_;  // not owned
  std::string directory_;
};

// A blob on its way in. Dropped before finish() it leaves nothing behind. Belongs to one thread at
// a time; the store must outlive it.
class BlobStore::Incoming {
 public:
  Incoming(Incoming&&) noexcept;
  Incoming& operator=(Incoming&&) noexcept;
  ~Incoming();

  // In order. After an error it cannot go on. kNoSpace comes before the disk is full.
  Result<> write(std::string_view bytes);
  // Installs it. Errors: kInvalid, when the content is not what its digest says.
  Result<Blob> finish();

 private:
  friend class BlobStore;
  struct State;
  explicit Incoming(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hearth

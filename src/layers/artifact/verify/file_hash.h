// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/resumable_sha256.h"
#include "base/sha256.h"
#include "layers/artifact/verify/polite_reader.h"

namespace hearth {

// How far the hash of a file has come: enough to go on later, in another process.
struct HashProgress {
  ResumableSha256::State state;
  std::vector<Digest> parts;  // of all parts so far

  friend bool operator==(const HashProgress&, const HashProgress&) = default;
};

// The SHA-256 of a file that may be in use, and of each of its parts, a step at a time so that its
// caller can stop between two. The page cache is as before afterwards. Belongs to one thread.
class FileHash {
 public:
  static constexpr Bytes kPart{4 << 20};  // the last one is shorter
  static constexpr Bytes kStep{16 << 20};

  // `noted`: the version of the file that is meant. With `from` it goes on there. `files` must
  // outlive the hash. Errors: kNotFound; kConflict, when the file is another by now; kUnavailable.
  static Result<FileHash> open(const Files& files, std::string path, const FileInfo& noted,
                               HashProgress from = {});

  // Hashes kStep more, or what is left. Errors: kConflict (somebody wrote to the file, or put
  // another in its place), kNotFound, kUnavailable. After one it cannot go on.
  Result<> step();

  bool done() const { return position_ == noted_.size; }
  Bytes position() const { return position_; }
  // Between steps; not when it is done.
  HashProgress progress() const;

  struct Hashed {
    std::string sha256;  // hexadecimal
    std::vector<Digest> parts;
  };
  // Once it is done(). The object is spent afterwards.
  Hashed finish();

 private:
  FileHash(const Files& files, std::string path, const FileInfo& noted, HashProgress from);

  Result<> check_unchanged() const;
  Result<> hash_part();

  const Files* files_;  // not owned
  std::string path_;
  FileInfo noted_;
  PoliteReader reader_;
  ResumableSha256 whole_;
  std::vector<Digest> parts_;
  Bytes position_;
};

// Which of the parts differ, by number. Lists of different length differ in what one lacks.
std::vector<std::size_t> differing(const std::vector<Digest>& known,
                                   const std::vector<Digest>& found);

// Where a part lies in a file of this size.
Range part_range(std::size_t part, Bytes size);

}  // namespace hearth

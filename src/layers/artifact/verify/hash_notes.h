// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "layers/artifact/verify/file_hash.h"

namespace hearth {

// What is kept on disk of hashes, in a directory of its own: how far an unfinished one has come,
// and the digests of the parts of finished ones. Nothing rests on it: a note that is lost, damaged
// or cannot be written costs reading a file once more. Thread-safe as far as `files` is; blocks.
class HashNotes {
 public:
  // `files` must outlive the notes. The directory is made with the first note.
  HashNotes(const Files& files, std::string directory);

  // ---- unfinished, by this version of the file ----
  HashProgress unfinished(const std::string& path, const FileInfo& file) const;
  void keep(const std::string& path, const FileInfo& file, const HashProgress& progress) const;
  void forget(const std::string& path, const FileInfo& file) const;

  // ---- finished, by the content's SHA-256 in hexadecimal ----
  std::optional<std::vector<Digest>> parts(const std::string& sha256) const;
  void keep_parts(const std::string& sha256, const std::vector<Digest>& parts) const;

  // ---- what the file at a path last held, whichever version of it that was ----
  std::optional<std::string> last_content(const std::string& path) const;
  void keep_last(const std::string& path, const std::string& sha256) const;

  // ---- when the check of all files that is not finished began; wall clock, 0: there is none ----
  std::int64_t run_began_us() const;
  void keep_run(std::int64_t began_us) const;
  void end_run() const;

  // Notes that no longer stand for any of these files or contents, by path.
  struct InUse {
    std::set<std::string> unfinished;  // of note_name()
    std::set<std::string> contents;
    std::set<std::string> paths;
  };
  std::vector<std::string> leftovers(const InUse& used) const;
  static std::string note_name(const std::string& path, const FileInfo& file);

 private:
  void write(const std::string& name, std::string content) const;
  std::optional<std::string> read(const std::string& name) const;

  const Files* files_;  // not owned
  std::string directory_;
};

}  // namespace hearth

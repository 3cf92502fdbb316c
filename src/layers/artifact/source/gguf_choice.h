// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hearth {

struct RepositoryFile {
  std::string path;    // in the repository
  std::string sha256;  // empty: not said
  Bytes size;
};

// A file, or all files of a set, that make one model.
struct GgufSet {
  std::string stem;                   // path without ".gguf" and a shard's number
  std::string quantisation;           // empty: the name tells of none
  std::vector<RepositoryFile> files;  // in order
  int count = 1;                      // how many files a whole set has

  bool whole() const { return files.size() == static_cast<std::size_t>(count); }
  Bytes size() const;
};

// What a repository's GGUF files are.
struct GgufFiles {
  std::vector<GgufSet> sets;  // smallest first
  int projectors = 0;
  int adapters = 0;
  int other = 0;  // importance matrices and the like
};
GgufFiles sort_gguf_files(std::vector<RepositoryFile> files);

// The set that `wanted` means: a quantisation, a file's path or name, or nothing at all. Case does
// not count. Errors: kNotFound, listing what there is with sizes; kInvalid, when several fit;
// kCorrupt, when files of the set are missing.
Result<GgufSet> choose_gguf(const std::vector<GgufSet>& sets, std::string_view wanted);

// "Q2_K (3.1 GiB), Q4_K_M (4.6 GiB)". A set is called by its file where others have the same
// quantisation.
std::string list_of(const std::vector<GgufSet>& sets);
std::string label_of(const GgufSet& set, const std::vector<GgufSet>& among);

}  // namespace hearth

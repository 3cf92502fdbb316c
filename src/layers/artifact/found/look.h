// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/text.h"
#include "layers/artifact/found/scan.h"

namespace hearth::found {

struct SeenFile {
  std::string path;
  std::string relative;  // to where the walk began
  FileInfo file;         // of what a link leads to
};

enum class Want { kModels, kAll };  // *.gguf that are no part of a download, or every file

// One look into one store: walks and reads within bounds, and notes what was odd.
class Look {
 public:
  // All must outlive the look; `into` gets what it brings.
  Look(const Files& files, const ScanOptions& options, StoreScan& into)
      : files_{files}, options_{options}, scan_{into} {}

  // Regular files below a directory, sorted by path. Hidden names are left out.
  std::vector<SeenFile> files_below(const std::string& directory, Want want);

  // Names in a directory; it is watched from now on. Empty, with a problem, if it cannot be read.
  std::vector<std::string> list(const std::string& directory);

  // The whole of a small file. Errors: kNotFound, kUnavailable; kInvalid, when it is larger than
  // `most` or no regular file.
  Result<std::string> read_text(const std::string& path, std::size_t most);

  // For index files: the next look is due when it has changed.
  void watch(const std::string& path);

  // nullopt, with a problem, for what cannot be resolved or written down.
  std::optional<std::string> real_path(const std::string& path);

  // Whether somebody seems to write the file just now. `real`: its real path.
  bool is_unfinished(const FileInfo& file, const std::string& real);

  void problem(std::string text) { scan_.problems.push_back(std::move(text)); }
  // Tells models of the same name and second name apart.
  void add(FoundModel model);
  const Files& files() const { return files_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Walk;

  void walk(Walk& walk, const std::string& directory, const std::string& relative);
  void enter(Walk& walk, const std::string& path, const std::string& relative);
  void take(Walk& walk, SeenFile seen);
  bool is_recent(std::int64_t modified_ns) const;

  const Files& files_;
  const ScanOptions& options_;
  StoreScan& scan_;
  std::set<Identity> visited_;
  std::set<std::string> called_;  // name and fallback of every model so far
  int entries_ = 0;
};

// A path as a person may read it, whatever bytes it has.
std::string shown(std::string_view path);

bool ends_with_no_case(std::string_view text, std::string_view lower_case_end);

}  // namespace hearth::found

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "layers/artifact/catalogue.h"
#include "layers/artifact/found/store_root.h"

namespace hearth {

// A directory or a small file that says which models there are, as it was during a look.
struct Watched {
  std::string path;
  std::optional<FileInfo> seen;  // nothing: it was not there
};

// What one look into a store brought.
struct StoreScan {
  enum class Root {
    kThere,
    kMissing,     // so are its models
    kUnreadable,  // nobody knows what is in it now
  };
  Root root = Root::kThere;
  std::string real_path;  // of the root, links resolved; empty unless it is there
  std::vector<FoundModel> models;
  // Sentences for people: what could not be used, why, and what to do. They hold paths.
  std::vector<std::string> problems;
  std::vector<Watched> watched;
  // Something was being written, or so lately that a later write might look the same.
  bool again_soon = false;
};

struct ScanOptions {
  std::int64_t now_ns = 0;      // wall clock
  std::set<std::string> known;  // real paths that stay listed even while somebody writes to them
  int most_entries = 100'000;   // of all directories together
};

// Looks for models in a store. Only names, links and small index files are read, no model file is
// opened, and nothing is written. A link is followed to wherever it leads, at most 16 levels of
// directories deep. Blocks on the disk.
StoreScan scan_store(const Files& files, const StoreRoot& root, const ScanOptions& options);

// Whether a new look could bring something else. Blocks on the disk for a stat each.
bool has_changed(const Files& files, const std::vector<Watched>& watched);

}  // namespace hearth

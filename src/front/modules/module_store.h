// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace hearth::front {

// What of modules outlives the server: those that came over the API, and how often each text has
// changed.
struct StoredModules {
  struct Entry {
    std::string name;
    std::string text;
    std::vector<std::string> models;
  };
  struct Version {
    int number = 0;
    std::string digest;  // of the text that had it
  };
  std::vector<Entry> entries;
  std::map<std::string, Version> versions;  // by name
};

// One JSON file, mode 0600, whole at any moment. Blocks; stateless.
class ModuleStore {
 public:
  ModuleStore(const Files& files, std::string path) : files_{files}, path_{std::move(path)} {}

  // Nothing where there is no file. One that makes no sense is put aside under another name, with
  // a warning.
  StoredModules load() const;
  // Errors: kNoSpace, kUnavailable; the file is as it was then.
  Result<> save(const StoredModules& modules) const;

 private:
  const Files& files_;
  std::string path_;
};

}  // namespace hearth::front

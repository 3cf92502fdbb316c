// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "front/config.h"
#include "front/modules/module.h"
#include "front/modules/module_store.h"

namespace hearth::front {

// All modules, from the configuration and from the API. A name that the configuration declares is
// its own: one of the same name from the API waits until the declaration goes. Holds what is known
// and touches no file, but for read_declared(). Belongs to the loop.
class ModuleSet {
 public:
  // A declaration of the configuration with its text, or why there is none.
  struct Declared {
    ModuleOptions options;
    std::string text;
    std::string broken;
  };
  // Reads the files that declarations name. Blocks. What cannot be read is no error: the module is
  // broken until it can.
  static std::vector<Declared> read_declared(const Files& files,
                                             const std::map<std::string, ModuleOptions>& modules);

  ModuleSet() = default;
  explicit ModuleSet(StoredModules stored);

  // In place of what the configuration declared before; whether anything has changed. A broken
  // module is warned of once.
  bool declare(std::vector<Declared> declared);
  // From the API. Errors: kInvalid (with the field), kConflict (the configuration has that name).
  Result<> put(const std::string& name, std::string text, const std::vector<std::string>& models);
  // Errors: kNotFound, kConflict.
  Result<> remove(const std::string& name);

  // Null: there is none.
  const Module* find(const std::string& name) const;
  std::vector<const Module*> all() const;  // by name

  // What a request names, in its order. Errors, with the field: kNotFound, kInvalid (twice),
  // kUnavailable (broken).
  Result<std::vector<const Module*>> named(std::span<const std::string> names) const;

  StoredModules stored() const;

 private:
  void set_version(Module& module);

  std::map<std::string, Module> declared_;
  std::map<std::string, Module> added_;
  std::map<std::string, StoredModules::Version> versions_;
};

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/sha256.h"
#include "front/modules/module_rules.h"
#include "front/modules/text_file.h"

namespace hearth::front {
namespace {

std::string digest_of_text(const std::string& text) {
  Sha256 sha;
  return hex_of(sha.add(text).finish());
}

bool alike(const Module& a, const Module& b) {
  return a.digest == b.digest && a.models == b.models && a.broken == b.broken && a.file == b.file;
}

Error of_configuration(const std::string& name) {
  return Error{ErrorCode::kConflict, "the configuration declares the module \"" + name +
                                         "\"; change it there, and reload"}
      .at("name");
}

}  // namespace

std::vector<ModuleSet::Declared> ModuleSet::read_declared(
    const Files& files, const std::map<std::string, ModuleOptions>& modules) {
  std::vector<Declared> declared;
  for (const auto& [name, options] : modules) {
    Declared one{options, options.text, {}};
    if (!options.file.empty()) {
      Result<std::string> text = read_text_file(files, options.file, Bytes{kMostModuleText});
      const Result<> good = text ? check_module_text(*text) : Result<>{Failed{text.error()}};
      if (good) one.text = *std::move(text);
      if (!good) one.broken = good.error().message();
    }
    declared.push_back(std::move(one));
  }
  return declared;
}

ModuleSet::ModuleSet(StoredModules stored) : versions_{std::move(stored.versions)} {
  for (StoredModules::Entry& entry : stored.entries) {
    Module module;
    module.name = entry.name;
    module.text = std::move(entry.text);
    module.models = std::move(entry.models);
    set_version(module);
    added_[entry.name] = std::move(module);
  }
}

void ModuleSet::set_version(Module& module) {
  if (!module.broken.empty()) return;
  module.digest = digest_of_text(module.text);
  StoredModules::Version& version = versions_[module.name];
  if (version.digest != module.digest) version = {version.number + 1, module.digest};
  module.version = version.number;
}

bool ModuleSet::declare(std::vector<Declared> declared) {
  const std::map<std::string, Module> before = std::exchange(declared_, {});
  bool changed = before.size() != declared.size();
  for (Declared& one : declared) {
    Module module;
    module.name = one.options.name;
    module.source = Module::Source::kConfiguration;
    module.file = one.options.file;
    module.models = one.options.models;
    module.broken = std::move(one.broken);
    if (module.broken.empty()) module.text = std::move(one.text);
    set_version(module);
    const auto old = before.find(module.name);
    const bool same = old != before.end() && alike(old->second, module);
    changed = changed || !same;
    if (!same && !module.broken.empty()) {
      log::warn("module.broken",
                {{"module", module.name}, {"path", module.file}, {"reason", module.broken}});
    }
    declared_[module.name] = std::move(module);
  }
  return changed;
}

Result<> ModuleSet::put(const std::string& name, std::string text,
                        const std::vector<std::string>& models) {
  if (Result<> good = check_module_name(name); !good) {
    return Failed{std::move(good).error().at("name")};
  }
  if (Result<> good = check_module_text(text); !good) {
    return Failed{std::move(good).error().at("text")};
  }
  Result<std::vector<std::string>> canonical = canonical_models(models);
  if (!canonical) {
    std::string field = "models" + canonical.error().field();
    return Failed{std::move(canonical).error().at(std::move(field))};
  }
  if (declared_.contains(name)) return Failed{of_configuration(name)};
  if (!added_.contains(name) && added_.size() >= kMostModules) {
    return fail(ErrorCode::kInvalid,
                fmt::format("there are {} modules already, and no more are possible; remove one",
                            kMostModules));
  }
  Module module;
  module.name = name;
  module.text = std::move(text);
  module.models = *std::move(canonical);
  set_version(module);
  added_[name] = std::move(module);
  return {};
}

Result<> ModuleSet::remove(const std::string& name) {
  if (declared_.contains(name)) return Failed{of_configuration(name)};
  if (added_.erase(name) > 0) return {};
  return Failed{Error{ErrorCode::kNotFound, "there is no module \"" + name + "\""}.at("name")};
}

const Module* ModuleSet::find(const std::string& name) const {
  if (const auto found = declared_.find(name); found != declared_.end()) return &found->second;
  const auto found = added_.find(name);
  return found == added_.end() ? nullptr : &found->second;
}

std::vector<const Module*> ModuleSet::all() const {
  std::vector<const Module*> modules;
  for (const auto& [name, module] : declared_) modules.push_back(&module);
  for (const auto& [name, module] : added_) {
    if (!declared_.contains(name)) modules.push_back(&module);
  }
  std::ranges::sort(modules, {}, [](const Module* module) { return module->name; });
  return modules;
}

Result<std::vector<const Module*>> ModuleSet::named(std::span<const std::string> names) const {
  std::vector<const Module*> modules;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto refused = [&](ErrorCode code, const std::string& what) {
      return Failed{Error{code, fmt::format("module \"{}\" {}", names[i], what)}.at(
          fmt::format("hearth.modules[{}]", i))};
    };
    const Module* module = find(names[i]);
    if (module == nullptr) return refused(ErrorCode::kNotFound, "is not known");
    if (std::ranges::find(modules, module) != modules.end()) {
      return refused(ErrorCode::kInvalid, "is named twice");
    }
    if (!module->broken.empty()) {
      return refused(ErrorCode::kUnavailable, "has no text: its file cannot be read");
    }
    modules.push_back(module);
  }
  return modules;
}

StoredModules ModuleSet::stored() const {
  StoredModules stored;
  for (const auto& [name, module] : added_) {
    stored.entries.push_back({name, module.text, module.models});
  }
  stored.versions = versions_;
  return stored;
}

}  // namespace hearth::front

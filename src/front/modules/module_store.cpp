// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_store.h"

#include <boost/json.hpp>
#include <span>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "front/modules/module_rules.h"
#include "front/modules/text_file.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

// Each byte of a text may become six in JSON.
constexpr Bytes kMostOfFile{kMostModules * kMostModuleText * 6};

Failed unreadable() { return fail(ErrorCode::kCorrupt, "it is not what this program writes"); }

const json::value* member(const json::value& of, std::string_view name) {
  return of.is_object() ? of.get_object().if_contains(name) : nullptr;
}

Result<std::string> text_of(const json::value& of, std::string_view name) {
  const json::value* value = member(of, name);
  if (value == nullptr || !value->is_string()) return unreadable();
  return std::string{std::string_view{value->get_string()}};
}

Result<StoredModules::Entry> entry_of(const json::value& value) {
  Result<std::string> name = text_of(value, "name");
  Result<std::string> text = text_of(value, "text");
  const json::value* models = member(value, "models");
  if (!name || !text || models == nullptr || !models->is_array()) return unreadable();
  StoredModules::Entry entry{*std::move(name), *std::move(text), {}};
  if (!check_module_name(entry.name) || !check_module_text(entry.text)) return unreadable();
  for (const json::value& model : models->get_array()) {
    if (!model.is_string()) return unreadable();
    entry.models.emplace_back(std::string_view{model.get_string()});
  }
  return entry;
}

Result<StoredModules> modules_of(const std::string& text) {
  const Result<json::value> whole = parse_json(text);
  if (!whole) return Failed{whole.error()};
  const json::value* entries = member(*whole, "modules");
  const json::value* versions = member(*whole, "versions");
  if (entries == nullptr || !entries->is_array() || versions == nullptr || !versions->is_object()) {
    return unreadable();
  }
  StoredModules modules;
  for (const json::value& value : entries->get_array()) {
    Result<StoredModules::Entry> entry = entry_of(value);
    if (!entry) return Failed{std::move(entry).error()};
    modules.entries.push_back(*std::move(entry));
  }
  for (const auto& each : versions->get_object()) {
    const json::value* number = member(each.value(), "number");
    Result<std::string> digest = text_of(each.value(), "digest");
    if (!digest || number == nullptr || !number->is_int64()) return unreadable();
    modules.versions[std::string{each.key()}] = {static_cast<int>(number->get_int64()),
                                                 *std::move(digest)};
  }
  return modules;
}

std::string to_json(const StoredModules& modules) {
  json::array entries;
  for (const StoredModules::Entry& entry : modules.entries) {
    entries.push_back(json::object{
        {"name", entry.name}, {"text", entry.text}, {"models", json::value_from(entry.models)}});
  }
  json::object versions;
  for (const auto& [name, version] : modules.versions) {
    versions[name] = json::object{{"number", version.number}, {"digest", version.digest}};
  }
  return json::serialize(
      json::object{{"modules", std::move(entries)}, {"versions", std::move(versions)}});
}

}  // namespace

StoredModules ModuleStore::load() const {
  const Result<std::string> text = read_text_file(files_, path_, kMostOfFile);
  if (!text && text.error().code() == ErrorCode::kNotFound) return {};
  Result<StoredModules> modules =
      text ? modules_of(*text) : Result<StoredModules>{Failed{text.error()}};
  if (modules) return *std::move(modules);
  log::warn("modules.not_read", {{"path", path_}, {"reason", modules.error().message()}});
  // The next save would replace what somebody may still want to mend.
  if (const Result<> moved = files_.rename(path_, path_ + ".unreadable"); !moved) {
    log::warn("modules.not_kept", {{"path", path_}, {"reason", moved.error().message()}});
  }
  return {};
}

Result<> ModuleStore::save(const StoredModules& modules) const {
  const std::string text = to_json(modules);
  const std::string fresh = path_ + ".new";
  Result<Fd> file = files_.open_write(fresh, Files::Create::kIfMissing);
  if (!file) return Failed{std::move(file).error()};
  Result<> done = files_.resize(*file, Bytes{});
  if (done) done = files_.write_at(*file, 0, std::as_bytes(std::span{text}));
  if (done) done = files_.sync(*file);
  if (done) done = files_.rename(fresh, path_);
  const std::string directory = path_.substr(0, path_.rfind('/'));
  if (done) done = files_.sync_directory(directory);
  return done;
}

}  // namespace hearth::front

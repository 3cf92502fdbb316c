// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sqlite.h"
#include "layers/artifact/artifact.h"
#include "layers/artifact/found/store_root.h"
#include "layers/artifact/model_name.h"
#include "layers/artifact/model_settings.h"
#include "layers/artifact/pin.h"

namespace hearth {

struct NamedModel;

// What went wrong, for a caller that makes nothing else of it.
template <class T>
Failed passed_on(Result<T>& failed) {
  return Failed{std::move(failed).error()};
}

// The tables of the catalogue, row by row: artifacts, their names and pins, and which names of
// other stores are not wanted. Nothing here looks at a model's file. Belongs to the catalogue's
// thread; every error is the database's unless said otherwise.
class CatalogueRows {
 public:
  // Where a name comes from that nobody typed.
  struct FoundAs {
    Store store = Store::kFolder;
    std::string root;
    std::string as;  // what it is called there
  };
  struct Name {
    std::string key;
    std::string display;
    std::string artifact;
    ModelSettings settings;
    std::optional<FoundAs> found;
  };
  enum class Taken { kKeep, kReplace };  // what becomes of a name that is there already

  // Brings older databases up to date.
  static Result<CatalogueRows> open(const std::string& path);

  Result<Transaction> begin() { return Transaction::begin(db_); }

  Result<std::vector<NamedModel>> models();
  // Errors: kNotFound.
  Result<NamedModel> model(const ModelName& name);
  Result<std::vector<Artifact>> artifacts();
  // Errors: kNotFound.
  Result<Artifact> artifact(std::string_view id);
  // By its files' paths, as place_of() makes them one text. Errors: kNotFound.
  Result<Artifact> artifact_at(std::string_view place);

  // Writes the artifact down, in place of the one that had `old_id`, whose names and pins it gets.
  Result<> store(const std::string& old_id, const Artifact& artifact);
  // Errors: kNotFound.
  Result<> set_status(std::string_view id, ArtifactStatus status, std::string_view reason);
  // Errors: kNotFound.
  Result<> touch(std::string_view id, std::int64_t now_us);

  Result<> write_name(const ModelName& name, const Name& row, std::int64_t now_us, Taken taken);
  // As if the user had given the name: it is no longer the other store's.
  Result<> claim_name(const ModelName& name);
  // Errors: kNotFound.
  Result<Name> name(std::string_view key);
  Result<std::vector<Name>> names_of(std::string_view artifact);
  Result<std::vector<Name>> names_found(Store store, std::string_view root);
  Result<std::vector<StoreRoot>> found_roots();
  Result<> remove_name(std::string_view key);
  // Artifacts without a name go, and their pins.
  Result<> drop_nameless();

  Result<> hide(const FoundAs& found);
  Result<bool> hidden(const FoundAs& found);

  Result<> write_pin(std::string_view id, const Pin& pin);
  Result<> remove_pin(std::string_view id, std::string_view layer);
  Result<std::vector<Pin>> pins_of(std::string_view id);

 private:
  explicit CatalogueRows(Database db) : db_{std::move(db)} {}

  Result<std::vector<NamedModel>> models_where(std::string_view where, std::string_view value);
  Result<Artifact> artifact_where(std::string_view column, std::string_view value);
  Result<std::vector<Name>> names_in(Statement select);
  Result<> rename(std::string_view old_id, std::string_view new_id);

  Database db_;
};

// The paths of an artifact's files as one text: two artifacts may share some, never all.
std::string place_of(const Artifact& artifact);

Failed unknown_artifact();
Failed unknown_name(const ModelName& name);

}  // namespace hearth

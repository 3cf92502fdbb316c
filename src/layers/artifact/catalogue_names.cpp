// SPDX-License-Identifier: Apache-2.0
//
// CatalogueRows' names: those that people gave, and those that a look into another store brought.
#include <utility>

#include "layers/artifact/catalogue_rows.h"

namespace hearth {
namespace {

constexpr std::string_view kColumns =
    "SELECT name_key, display, artifact, settings, found_store, found_root, found_as FROM names ";

Result<CatalogueRows::Name> name_in(const Statement& row) {
  CatalogueRows::Name name;
  name.key = row.text(0);
  name.display = row.text(1);
  name.artifact = row.text(2);
  if (const std::string text = row.text(3); !text.empty()) {
    Result<ModelSettings> settings = settings_of(text);
    if (!settings) return passed_on(settings);
    name.settings = std::move(*settings);
  }
  if (const std::optional<Store> store = store_named(row.text(4))) {
    name.found = CatalogueRows::FoundAs{*store, row.text(5), row.text(6)};
  }
  return name;
}

std::string text_of(const ModelSettings& settings) {
  return settings.empty() ? std::string{} : json_of(settings);
}

}  // namespace

Result<> CatalogueRows::write_name(const ModelName& name, const Name& row, std::int64_t now_us,
                                   Taken taken) {
  std::string sql =
      "INSERT INTO names (name_key, display, artifact, created_at, settings, found_store, "
      "found_root, found_as) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (name_key) DO ";
  sql += taken == Taken::kKeep ? "NOTHING"
                               : "UPDATE SET artifact = ?3, settings = ?5, found_store = ?6, "
                                 "found_root = ?7, found_as = ?8";
  auto insert = db_.prepare(sql);
  if (!insert) return passed_on(insert);
  const FoundAs found = row.found.value_or(FoundAs{});
  insert->bind(1, name.key()).bind(2, name.canonical()).bind(3, row.artifact).bind(4, now_us);
  insert->bind(5, text_of(row.settings));
  insert->bind(6, row.found ? name_of(found.store) : std::string_view{});
  insert->bind(7, found.root).bind(8, found.as);
  return insert->run();
}

Result<> CatalogueRows::claim_name(const ModelName& name) {
  auto update = db_.prepare(
      "UPDATE names SET found_store = '', found_root = '', found_as = '' WHERE name_key = ?1");
  if (!update) return passed_on(update);
  return update->bind(1, name.key()).run();
}

Result<std::vector<CatalogueRows::Name>> CatalogueRows::names_in(Statement select) {
  std::vector<Name> names;
  for (;;) {
    Result<bool> more = select.step();
    if (!more) return passed_on(more);
    if (!*more) return names;
    Result<Name> name = name_in(select);
    if (!name) return passed_on(name);
    names.push_back(std::move(*name));
  }
}

Result<CatalogueRows::Name> CatalogueRows::name(std::string_view key) {
  auto select = db_.prepare(std::string{kColumns} + "WHERE name_key = ?1");
  if (!select) return passed_on(select);
  select->bind(1, key);
  Result<std::vector<Name>> names = names_in(std::move(*select));
  if (!names) return passed_on(names);
  if (names->empty()) return fail(ErrorCode::kNotFound, "no such name");
  return std::move(names->front());
}

Result<std::vector<CatalogueRows::Name>> CatalogueRows::names_of(std::string_view artifact) {
  auto select = db_.prepare(std::string{kColumns} + "WHERE artifact = ?1 ORDER BY name_key");
  if (!select) return passed_on(select);
  select->bind(1, artifact);
  return names_in(std::move(*select));
}

Result<std::vector<CatalogueRows::Name>> CatalogueRows::names_found(Store store,
                                                                    std::string_view root) {
  auto select = db_.prepare(std::string{kColumns} +
                            "WHERE found_store = ?1 AND found_root = ?2 ORDER BY name_key");
  if (!select) return passed_on(select);
  select->bind(1, name_of(store)).bind(2, root);
  return names_in(std::move(*select));
}

Result<std::vector<StoreRoot>> CatalogueRows::found_roots() {
  auto select = db_.prepare(
      "SELECT DISTINCT found_store, found_root FROM names WHERE found_root <> '' ORDER BY 1, 2");
  if (!select) return passed_on(select);
  std::vector<StoreRoot> roots;
  for (;;) {
    Result<bool> more = select->step();
    if (!more) return passed_on(more);
    if (!*more) return roots;
    const std::optional<Store> store = store_named(select->text(0));
    if (store) roots.push_back(StoreRoot{*store, select->text(1)});
  }
}

Result<> CatalogueRows::remove_name(std::string_view key) {
  auto remove = db_.prepare("DELETE FROM names WHERE name_key = ?1");
  if (!remove) return passed_on(remove);
  return remove->bind(1, key).run();
}

Result<> CatalogueRows::hide(const FoundAs& found) {
  auto insert = db_.prepare(
      "INSERT OR IGNORE INTO hidden (store, root, found_as) "
      "VALUES (?1, ?2, ?3)");
  if (!insert) return passed_on(insert);
  return insert->bind(1, name_of(found.store)).bind(2, found.root).bind(3, found.as).run();
}

Result<bool> CatalogueRows::hidden(const FoundAs& found) {
  auto select =
      db_.prepare("SELECT 1 FROM hidden WHERE store = ?1 AND root = ?2 AND found_as = ?3");
  if (!select) return passed_on(select);
  return select->bind(1, name_of(found.store)).bind(2, found.root).bind(3, found.as).step();
}

}  // namespace hearth

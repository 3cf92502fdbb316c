// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/catalogue_rows.h"

#include <array>
#include <utility>

#include "layers/artifact/artifact_json.h"
#include "layers/artifact/catalogue.h"
#include "layers/artifact/catalogue_schema.h"

namespace hearth {
namespace {

constexpr std::string_view kArtifactColumns =
    "a.id, a.shards, a.facts, a.imported_at, a.last_used_at, a.status, a.reason, a.store, "
    "a.origin, a.adapters, a.verified_at";
constexpr int kArtifactWidth = 11;

ArtifactStatus status_of(std::int64_t number) {
  if (number < 0 || number > 5) return ArtifactStatus::kBroken;
  return static_cast<ArtifactStatus>(number);
}

Result<std::vector<Artifact::Shard>> files_in(const Statement& row, int column) {
  const std::string text = row.text(column);
  if (text.empty()) return std::vector<Artifact::Shard>{};
  return shards_of(text);
}

// The texts of a row that are JSON, each by its own reader.
Result<> read_parts(const Statement& row, Artifact& artifact) {
  Result<std::vector<Artifact::Shard>> shards = files_in(row, 1);
  if (!shards) return passed_on(shards);
  if (shards->empty()) return fail(ErrorCode::kCorrupt, "the catalogue lists a model of no file");
  artifact.shards = std::move(*shards);
  Result<ModelFacts> facts = facts_of(row.text(2));
  if (!facts) return passed_on(facts);
  artifact.facts = std::move(*facts);
  Result<std::vector<Artifact::Shard>> adapters = files_in(row, 9);
  if (!adapters) return passed_on(adapters);
  artifact.adapters = std::move(*adapters);
  const std::string origin = row.text(8);
  if (origin.empty()) return {};
  Result<Origin> known = origin_of(origin);
  if (!known) return passed_on(known);
  artifact.origin = std::move(*known);
  return {};
}

Result<Artifact> artifact_in(const Statement& row) {
  Artifact artifact;
  artifact.id = row.text(0);
  if (auto read = read_parts(row, artifact); !read) return passed_on(read);
  artifact.imported_at_us = row.integer(3);
  artifact.last_used_at_us = row.integer(4);
  artifact.status = status_of(row.integer(5));
  artifact.reason = row.text(6);
  artifact.store = store_named(row.text(7)).value_or(Store::kUser);
  artifact.verified_at_us = row.integer(10);
  return artifact;
}

Result<ModelSettings> settings_in(const Statement& row, int column) {
  const std::string text = row.text(column);
  if (text.empty()) return ModelSettings{};
  return settings_of(text);
}

}  // namespace

std::string place_of(const Artifact& artifact) {
  std::string place = artifact.shards.front().path;
  for (const Artifact::Shard& adapter : artifact.adapters) place += "\n" + adapter.path;
  return place;
}

Failed unknown_artifact() { return fail(ErrorCode::kNotFound, "no such artifact"); }
Failed unknown_name(const ModelName& name) {
  return fail(ErrorCode::kNotFound, "no model \"" + name.canonical() + "\"");
}

Result<CatalogueRows> CatalogueRows::open(const std::string& path) {
  Result<Database> db = Database::open(path);
  if (!db) return passed_on(db);
  if (auto migrated = db->migrate(catalogue_schema()); !migrated) return passed_on(migrated);
  return CatalogueRows{std::move(*db)};
}

Result<std::vector<NamedModel>> CatalogueRows::models_where(std::string_view where,
                                                            std::string_view value) {
  auto select = db_.prepare("SELECT " + std::string{kArtifactColumns} +
                            ", n.display, n.name_key, n.created_at, n.settings FROM names n "
                            "JOIN artifacts a ON a.id = n.artifact WHERE " +
                            std::string{where} + " ORDER BY n.name_key");
  if (!select) return passed_on(select);
  if (where.find('?') != std::string_view::npos) select->bind(1, value);
  std::vector<NamedModel> models;
  for (;;) {
    Result<bool> more = select->step();
    if (!more) return passed_on(more);
    if (!*more) break;
    Result<Artifact> artifact = artifact_in(*select);
    if (!artifact) return passed_on(artifact);
    Result<ModelSettings> settings = settings_in(*select, kArtifactWidth + 3);
    if (!settings) return passed_on(settings);
    models.push_back(NamedModel{select->text(kArtifactWidth),
                                select->text(kArtifactWidth + 1),
                                select->integer(kArtifactWidth + 2),
                                std::move(*artifact),
                                {},
                                std::move(*settings)});
  }
  for (NamedModel& model : models) {
    Result<std::vector<Pin>> pins = pins_of(model.artifact.id);
    if (!pins) return passed_on(pins);
    model.pins = std::move(*pins);
  }
  return models;
}

Result<std::vector<NamedModel>> CatalogueRows::models() { return models_where("1", {}); }

Result<NamedModel> CatalogueRows::model(const ModelName& name) {
  Result<std::vector<NamedModel>> found = models_where("n.name_key = ?1", name.key());
  if (!found) return passed_on(found);
  if (found->empty()) return unknown_name(name);
  return std::move(found->front());
}

Result<std::vector<Artifact>> CatalogueRows::artifacts() {
  auto select = db_.prepare("SELECT " + std::string{kArtifactColumns} + " FROM artifacts a");
  if (!select) return passed_on(select);
  std::vector<Artifact> all;
  for (;;) {
    Result<bool> more = select->step();
    if (!more) return passed_on(more);
    if (!*more) return all;
    Result<Artifact> artifact = artifact_in(*select);
    if (!artifact) return passed_on(artifact);
    all.push_back(std::move(*artifact));
  }
}

Result<Artifact> CatalogueRows::artifact_where(std::string_view column, std::string_view value) {
  auto select = db_.prepare("SELECT " + std::string{kArtifactColumns} +
                            " FROM artifacts a WHERE a." + std::string{column} + " = ?1");
  if (!select) return passed_on(select);
  Result<bool> row = select->bind(1, value).step();
  if (!row) return passed_on(row);
  if (!*row) return unknown_artifact();
  return artifact_in(*select);
}

Result<Artifact> CatalogueRows::artifact(std::string_view id) { return artifact_where("id", id); }
Result<Artifact> CatalogueRows::artifact_at(std::string_view place) {
  return artifact_where("place", place);
}

Result<> CatalogueRows::store(const std::string& old_id, const Artifact& artifact) {
  if (old_id != artifact.id) {
    if (auto done = rename(old_id, artifact.id); !done) return done;
  }
  auto upsert = db_.prepare(
      "INSERT INTO artifacts (id, place, shards, facts, imported_at, last_used_at, status, reason, "
      "store, origin, adapters, verified_at) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO UPDATE SET "
      "place = ?2, shards = ?3, facts = ?4, status = ?7, reason = ?8, store = ?9, origin = ?10, "
      "adapters = ?11, verified_at = ?12");
  if (!upsert) return passed_on(upsert);
  upsert->bind(1, artifact.id).bind(2, place_of(artifact));
  upsert->bind(3, json_of(artifact.shards)).bind(4, json_of(artifact.facts));
  upsert->bind(5, artifact.imported_at_us).bind(6, artifact.last_used_at_us);
  upsert->bind(7, static_cast<std::int64_t>(artifact.status)).bind(8, artifact.reason);
  upsert->bind(9, name_of(artifact.store));
  upsert->bind(10, artifact.origin == Origin{} ? std::string{} : json_of(artifact.origin));
  upsert->bind(11, artifact.adapters.empty() ? std::string{} : json_of(artifact.adapters));
  upsert->bind(12, artifact.verified_at_us);
  return upsert->run();
}

// Two paths can lead to one file (hard links), so the new id may be taken: then the rows become
// one.
Result<> CatalogueRows::rename(std::string_view old_id, std::string_view new_id) {
  constexpr std::array<std::string_view, 4> kSteps{
      "UPDATE OR IGNORE artifacts SET id = ?1 WHERE id = ?2",
      "UPDATE names SET artifact = ?1 WHERE artifact = ?2",
      "UPDATE OR IGNORE pins SET artifact = ?1 WHERE artifact = ?2",
      "DELETE FROM artifacts WHERE id = ?2 AND id <> ?1"};
  for (const std::string_view step : kSteps) {
    auto change = db_.prepare(step);
    if (!change) return passed_on(change);
    if (auto done = change->bind(1, new_id).bind(2, old_id).run(); !done) return done;
  }
  return {};
}

Result<> CatalogueRows::set_status(std::string_view id, ArtifactStatus status,
                                   std::string_view reason) {
  auto update = db_.prepare("UPDATE artifacts SET status = ?1, reason = ?2 WHERE id = ?3");
  if (!update) return passed_on(update);
  update->bind(1, static_cast<std::int64_t>(status)).bind(2, reason).bind(3, id);
  if (auto done = update->run(); !done) return done;
  if (db_.changes() == 0) return unknown_artifact();
  return {};
}

Result<> CatalogueRows::touch(std::string_view id, std::int64_t now_us) {
  auto update = db_.prepare(
      "UPDATE artifacts SET last_used_at = ?1, "
      "reason = CASE status WHEN ?2 THEN '' ELSE reason END, "
      "status = CASE status WHEN ?2 THEN ?3 ELSE status END WHERE id = ?4");
  if (!update) return passed_on(update);
  update->bind(1, now_us);
  update->bind(2, static_cast<std::int64_t>(ArtifactStatus::kChanged));
  update->bind(3, static_cast<std::int64_t>(ArtifactStatus::kOk)).bind(4, id);
  if (auto done = update->run(); !done) return done;
  if (db_.changes() == 0) return unknown_artifact();
  return {};
}

Result<> CatalogueRows::drop_nameless() {
  return db_.execute("DELETE FROM artifacts WHERE id NOT IN (SELECT artifact FROM names)");
}

Result<> CatalogueRows::write_pin(std::string_view id, const Pin& pin) {
  auto upsert = db_.prepare(
      "INSERT INTO pins (artifact, layer, bytes) VALUES (?1, ?2, ?3) "
      "ON CONFLICT (artifact, layer) DO UPDATE SET bytes = ?3");
  if (!upsert) return passed_on(upsert);
  upsert->bind(1, id).bind(2, pin.layer).bind(3, static_cast<std::int64_t>(pin.bytes.count()));
  return upsert->run();
}

Result<> CatalogueRows::remove_pin(std::string_view id, std::string_view layer) {
  auto remove = db_.prepare("DELETE FROM pins WHERE artifact = ?1 AND layer = ?2");
  if (!remove) return passed_on(remove);
  return remove->bind(1, id).bind(2, layer).run();
}

Result<std::vector<Pin>> CatalogueRows::pins_of(std::string_view id) {
  auto select = db_.prepare("SELECT layer, bytes FROM pins WHERE artifact = ?1 ORDER BY layer");
  if (!select) return passed_on(select);
  select->bind(1, id);
  std::vector<Pin> pins;
  for (;;) {
    Result<bool> more = select->step();
    if (!more) return passed_on(more);
    if (!*more) return pins;
    const auto bytes = static_cast<std::uint64_t>(select->integer(1));
    pins.push_back(Pin{select->text(0), Bytes{bytes}});
  }
}

}  // namespace hearth

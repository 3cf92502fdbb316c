// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/catalogue.h"

#include <array>
#include <utility>

#include "base/json.h"
#include "layers/artifact/artifact_json.h"

namespace hearth {
namespace {

const std::vector<std::string> kMigrations{
    R"(CREATE TABLE artifacts (
         id TEXT PRIMARY KEY,
         path TEXT NOT NULL UNIQUE,
         shards TEXT NOT NULL,
         facts TEXT NOT NULL,
         imported_at INTEGER NOT NULL,
         last_used_at INTEGER NOT NULL,
         status INTEGER NOT NULL,
         reason TEXT NOT NULL);
       CREATE TABLE names (
         name_key TEXT PRIMARY KEY,
         display TEXT NOT NULL,
         artifact TEXT NOT NULL REFERENCES artifacts(id) ON UPDATE CASCADE,
         created_at INTEGER NOT NULL);
       CREATE INDEX names_by_artifact ON names(artifact);)",
    R"(CREATE TABLE pins (
         artifact TEXT NOT NULL REFERENCES artifacts(id) ON UPDATE CASCADE ON DELETE CASCADE,
         layer TEXT NOT NULL,
         bytes INTEGER NOT NULL,
         PRIMARY KEY (artifact, layer)) WITHOUT ROWID;)"};

constexpr std::string_view kColumns =
    "a.id, a.shards, a.facts, a.imported_at, a.last_used_at, a.status, a.reason";

Failed unknown_artifact() { return fail(ErrorCode::kNotFound, "no such artifact"); }
Failed unknown_name(const ModelName& name) {
  return fail(ErrorCode::kNotFound, "no model \"" + name.canonical() + "\"");
}

template <class T>
Failed passed_on(Result<T>& failed) {
  return Failed{std::move(failed).error()};
}

ArtifactStatus status_of(std::int64_t number) {
  if (number < 0 || number > 5) return ArtifactStatus::kBroken;
  return static_cast<ArtifactStatus>(number);
}

Result<Artifact> artifact_in(const Statement& row) {
  Artifact artifact;
  artifact.id = row.text(0);
  Result<std::vector<Artifact::Shard>> shards = shards_of(row.text(1));
  if (!shards) return passed_on(shards);
  artifact.shards = std::move(*shards);
  Result<ModelFacts> facts = facts_of(row.text(2));
  if (!facts) return passed_on(facts);
  artifact.facts = std::move(*facts);
  artifact.imported_at_us = row.integer(3);
  artifact.last_used_at_us = row.integer(4);
  artifact.status = status_of(row.integer(5));
  artifact.reason = row.text(6);
  return artifact;
}

// What stat says about the files against what is noted.
enum class Look { kSame, kDifferent, kMissing };

std::pair<Look, std::string> look_at(const Files& files, const Artifact& artifact) {
  std::pair<Look, std::string> seen{Look::kSame, ""};
  for (const Artifact::Shard& shard : artifact.shards) {
    const Result<FileInfo> now = files.info(shard.path);
    if (!now) return {Look::kMissing, now.error().message()};
    if (*now != shard.file) seen = {Look::kDifferent, ""};
  }
  return seen;
}

}  // namespace

Catalogue::Catalogue(Database db, const Files& files, const Clock& clock)
    : db_{std::move(db)}, files_{&files}, clock_{&clock} {}

Result<Catalogue> Catalogue::open(const std::string& path, const Files& files, const Clock& clock) {
  Result<Database> db = Database::open(path);
  if (!db) return passed_on(db);
  if (auto migrated = db->migrate(kMigrations); !migrated) return passed_on(migrated);
  return Catalogue{std::move(*db), files, clock};
}

Result<std::vector<NamedModel>> Catalogue::query(std::string_view where, std::string_view value) {
  auto select = db_.prepare("SELECT " + std::string{kColumns} +
                            ", n.display, n.name_key, n.created_at FROM names n "
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
    models.push_back(
        NamedModel{select->text(7), select->text(8), select->integer(9), std::move(*artifact), {}});
  }
  if (auto done = attach_pins(models); !done) return passed_on(done);
  return models;
}

Result<> Catalogue::attach_pins(std::vector<NamedModel>& models) {
  auto select = db_.prepare("SELECT layer, bytes FROM pins WHERE artifact = ?1 ORDER BY layer");
  if (!select) return passed_on(select);
  for (NamedModel& model : models) {
    select->bind(1, model.artifact.id);
    for (;;) {
      Result<bool> more = select->step();
      if (!more) return passed_on(more);
      if (!*more) break;
      const auto bytes = static_cast<std::uint64_t>(select->integer(1));
      model.pins.push_back(Pin{select->text(0), Bytes{bytes}});
    }
    select->reset();
  }
  return {};
}

Result<std::vector<NamedModel>> Catalogue::list() { return query("1", {}); }

Result<NamedModel> Catalogue::find(const ModelName& name) {
  Result<std::vector<NamedModel>> found = query("n.name_key = ?1", name.key());
  if (!found) return passed_on(found);
  if (found->empty()) return unknown_name(name);
  return std::move(found->front());
}

Result<Artifact> Catalogue::artifact_where(std::string_view column, std::string_view value) {
  auto select = db_.prepare("SELECT " + std::string{kColumns} + " FROM artifacts a WHERE a." +
                            std::string{column} + " = ?1");
  if (!select) return passed_on(select);
  Result<bool> row = select->bind(1, value).step();
  if (!row) return passed_on(row);
  if (!*row) return unknown_artifact();
  return artifact_in(*select);
}

Result<> Catalogue::store(const std::string& old_id, const Artifact& artifact) {
  if (old_id != artifact.id) {
    if (auto done = rename(old_id, artifact.id); !done) return done;
  }
  auto upsert = db_.prepare(
      "INSERT INTO artifacts (id, path, shards, facts, imported_at, last_used_at, status, reason) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO UPDATE SET path = ?2, "
      "shards = ?3, facts = ?4, status = ?7, reason = ?8");
  if (!upsert) return passed_on(upsert);
  upsert->bind(1, artifact.id).bind(2, artifact.shards.front().path);
  upsert->bind(3, json_of(artifact.shards)).bind(4, json_of(artifact.facts));
  upsert->bind(5, artifact.imported_at_us).bind(6, artifact.last_used_at_us);
  upsert->bind(7, static_cast<std::int64_t>(artifact.status)).bind(8, artifact.reason);
  return upsert->run();
}

// Two paths can lead to one file (hard links), so the new id may be taken: then the rows become
// one.
Result<> Catalogue::rename(const std::string& old_id, const std::string& new_id) {
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

Result<> Catalogue::write_name(const ModelName& name, const std::string& id) {
  auto insert = db_.prepare(
      "INSERT INTO names (name_key, display, artifact, created_at) VALUES (?1, ?2, ?3, ?4) "
      "ON CONFLICT (name_key) DO NOTHING");
  if (!insert) return passed_on(insert);
  insert->bind(1, name.key()).bind(2, name.canonical()).bind(3, id).bind(4, clock_->wall_us());
  return insert->run();
}

Result<NamedModel> Catalogue::import(const std::string& path, const ModelName& name) {
  Result<Artifact> fresh = inspect_artifact(*files_, path);
  if (!fresh) return passed_on(fresh);
  const std::string& real = fresh->shards.front().path;
  if (!is_utf8(real)) return fail(ErrorCode::kInvalid, "the file's path is not UTF-8; rename it");
  const Result<NamedModel> named = find(name);
  if (named && named->artifact.id != fresh->id && named->artifact.shards.front().path != real) {
    return fail(ErrorCode::kConflict,
                "the name \"" + named->name + "\" stands for other files; remove it first");
  }
  if (!named && named.error().code() != ErrorCode::kNotFound) return Failed{named.error()};

  Result<Transaction> transaction = Transaction::begin(db_);
  if (!transaction) return passed_on(transaction);
  const Result<Artifact> known = artifact_where("path", real);
  if (!known && known.error().code() != ErrorCode::kNotFound) return Failed{known.error()};
  fresh->imported_at_us = clock_->wall_us();
  if (auto done = store(known ? known->id : fresh->id, *fresh); !done) return passed_on(done);
  if (auto done = write_name(name, fresh->id); !done) return passed_on(done);
  if (auto done = transaction->commit(); !done) return passed_on(done);
  return find(name);
}

Result<NamedModel> Catalogue::copy(const ModelName& from, const ModelName& to) {
  Result<NamedModel> source = find(from);
  if (!source) return source;
  const Result<NamedModel> taken = find(to);
  if (taken && taken->artifact.id != source->artifact.id) {
    return fail(ErrorCode::kConflict,
                "the name \"" + taken->name + "\" stands for other files; remove it first");
  }
  if (!taken && taken.error().code() != ErrorCode::kNotFound) return Failed{taken.error()};
  if (auto done = write_name(to, source->artifact.id); !done) return passed_on(done);
  return find(to);
}

Result<> Catalogue::pin(const std::string& id, const Pin& pin) {
  const Result<Artifact> known = artifact_where("id", id);
  if (!known) return Failed{known.error()};
  auto upsert = db_.prepare(
      "INSERT INTO pins (artifact, layer, bytes) VALUES (?1, ?2, ?3) "
      "ON CONFLICT (artifact, layer) DO UPDATE SET bytes = ?3");
  if (!upsert) return passed_on(upsert);
  upsert->bind(1, id).bind(2, pin.layer).bind(3, static_cast<std::int64_t>(pin.bytes.count()));
  return upsert->run();
}

Result<> Catalogue::unpin(const std::string& id, std::string_view layer) {
  auto remove = db_.prepare("DELETE FROM pins WHERE artifact = ?1 AND layer = ?2");
  if (!remove) return passed_on(remove);
  return remove->bind(1, id).bind(2, layer).run();
}

Result<> Catalogue::remove_name(const ModelName& name) {
  Result<Transaction> transaction = Transaction::begin(db_);
  if (!transaction) return passed_on(transaction);
  auto remove = db_.prepare("DELETE FROM names WHERE name_key = ?1");
  if (!remove) return passed_on(remove);
  if (auto done = remove->bind(1, name.key()).run(); !done) return done;
  if (db_.changes() == 0) return unknown_name(name);
  if (auto done = db_.execute("DELETE FROM artifacts WHERE id NOT IN (SELECT artifact FROM names)");
      !done) {
    return done;
  }
  return transaction->commit();
}

Result<> Catalogue::set_status(const std::string& id, ArtifactStatus status,
                               std::string_view reason) {
  auto update = db_.prepare("UPDATE artifacts SET status = ?1, reason = ?2 WHERE id = ?3");
  if (!update) return passed_on(update);
  return update->bind(1, static_cast<std::int64_t>(status)).bind(2, reason).bind(3, id).run();
}

Result<> Catalogue::touch(const std::string& id) {
  auto update = db_.prepare(
      "UPDATE artifacts SET last_used_at = ?1, "
      "reason = CASE status WHEN ?2 THEN '' ELSE reason END, "
      "status = CASE status WHEN ?2 THEN ?3 ELSE status END WHERE id = ?4");
  if (!update) return passed_on(update);
  update->bind(1, clock_->wall_us());
  update->bind(2, static_cast<std::int64_t>(ArtifactStatus::kChanged));
  update->bind(3, static_cast<std::int64_t>(ArtifactStatus::kOk)).bind(4, id);
  if (auto done = update->run(); !done) return done;
  if (db_.changes() == 0) return unknown_artifact();
  return {};
}

Result<Artifact> Catalogue::recheck(const std::string& id) {
  Result<Artifact> known = artifact_where("id", id);
  if (!known) return known;
  auto [look, reason] = look_at(*files_, *known);
  const bool noted_less = known->facts.version < ModelFacts::kVersion;
  if (look == Look::kDifferent || (look == Look::kSame && noted_less)) {
    return reinspect(std::move(*known));
  }
  if (look == Look::kMissing) {
    known->status = ArtifactStatus::kMissing;
    known->reason = std::move(reason);
  } else if (known->status != ArtifactStatus::kChanged) {
    known->status = ArtifactStatus::kOk;
    known->reason.clear();
  }
  if (auto done = set_status(id, known->status, known->reason); !done) return passed_on(done);
  return known;
}

Result<Artifact> Catalogue::reinspect(Artifact known) {
  Result<Artifact> fresh = inspect_artifact(*files_, known.shards.front().path);
  if (!fresh) {
    const bool broken = fresh.error().code() == ErrorCode::kCorrupt;
    known.status = broken ? ArtifactStatus::kBroken : ArtifactStatus::kMissing;
    known.reason = fresh.error().message();
    if (auto done = set_status(known.id, known.status, known.reason); !done) return passed_on(done);
    return known;
  }
  fresh->imported_at_us = known.imported_at_us;
  fresh->last_used_at_us = known.last_used_at_us;
  if (!same_content(known, *fresh) || known.status == ArtifactStatus::kChanged) {
    fresh->status = ArtifactStatus::kChanged;
    fresh->reason = "the files hold something else than when they were imported";
  }
  Result<Transaction> transaction = Transaction::begin(db_);
  if (!transaction) return passed_on(transaction);
  if (auto done = store(known.id, *fresh); !done) return passed_on(done);
  if (auto done = transaction->commit(); !done) return passed_on(done);
  return fresh;
}

}  // namespace hearth

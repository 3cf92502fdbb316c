// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/catalogue.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "layers/artifact/catalogue_rows.h"

namespace hearth {
namespace {

using Taken = CatalogueRows::Taken;

Failed taken_name(const NamedModel& taken) {
  return fail(ErrorCode::kConflict,
              "the name \"" + taken.name + "\" stands for other files; remove it first");
}

CatalogueRows::Name row_of(const ModelName& name, std::string artifact, ModelSettings settings) {
  return CatalogueRows::Name{name.key(), name.canonical(), std::move(artifact), std::move(settings),
                             std::nullopt};
}

bool all_hashed(const Artifact& artifact) {
  return std::ranges::none_of(artifact.files(),
                              [](const Artifact::Shard* file) { return file->sha256.empty(); });
}

}  // namespace

Catalogue::Catalogue(CatalogueRows rows, const Files& files, const Clock& clock)
    : rows_{std::move(rows)}, files_{&files}, clock_{&clock} {}

Result<Catalogue> Catalogue::open(const std::string& path, const Files& files, const Clock& clock) {
  Result<CatalogueRows> rows = CatalogueRows::open(path);
  if (!rows) return passed_on(rows);
  return Catalogue{std::move(*rows), files, clock};
}

Result<std::vector<NamedModel>> Catalogue::list() { return rows_.models(); }

Result<NamedModel> Catalogue::find(const ModelName& name) { return rows_.model(name); }

Result<std::optional<Artifact>> Catalogue::known_like(const Artifact& fresh) {
  for (Result<Artifact> known : {rows_.artifact_at(place_of(fresh)), rows_.artifact(fresh.id)}) {
    if (known) return std::optional{std::move(*known)};
    if (known.error().code() != ErrorCode::kNotFound) return passed_on(known);
  }
  return std::nullopt;
}

Result<> Catalogue::take_over(const std::optional<Artifact>& known, Artifact& fresh) {
  if (known) carry_digests(*known, fresh);
  if (is_rotten(fresh)) {
    fresh.status = ArtifactStatus::kRotten;
    fresh.reason = reason_of_rot(fresh);
    fresh.verified_at_us = 0;
  }
  if (!known) {
    fresh.imported_at_us = clock_->wall_us();
    return rows_.store(fresh.id, fresh);
  }
  if (fresh.verified_at_us == 0 && all_hashed(fresh)) fresh.verified_at_us = known->verified_at_us;
  fresh.imported_at_us = known->imported_at_us;
  fresh.last_used_at_us = known->last_used_at_us;
  return rows_.store(known->id, fresh);
}

Result<NamedModel> Catalogue::import(const std::string& path, const ModelName& name) {
  Result<Artifact> fresh = inspect_artifact(*files_, path);
  if (!fresh) return passed_on(fresh);
  const std::string& real = fresh->shards.front().path;
  if (!is_utf8(real)) return fail(ErrorCode::kInvalid, "the file's path is not UTF-8; rename it");
  const Result<NamedModel> named = find(name);
  if (named && named->artifact.id != fresh->id && place_of(named->artifact) != real) {
    return taken_name(*named);
  }
  if (!named && named.error().code() != ErrorCode::kNotFound) return Failed{named.error()};

  Result<Transaction> transaction = rows_.begin();
  if (!transaction) return passed_on(transaction);
  Result<std::optional<Artifact>> known = known_like(*fresh);
  if (!known) return passed_on(known);
  if (*known) {
    fresh->store = (*known)->store;
    fresh->origin = (*known)->origin;
  }
  if (auto done = take_over(*known, *fresh); !done) return passed_on(done);
  const CatalogueRows::Name row = row_of(name, fresh->id, {});
  if (auto done = rows_.write_name(name, row, clock_->wall_us(), Taken::kKeep); !done) {
    return passed_on(done);
  }
  if (auto done = rows_.claim_name(name); !done) return passed_on(done);
  if (auto done = transaction->commit(); !done) return passed_on(done);
  return find(name);
}

Result<NamedModel> Catalogue::copy(const ModelName& from, const ModelName& to) {
  Result<NamedModel> source = find(from);
  if (!source) return source;
  const Result<NamedModel> taken = find(to);
  if (taken && taken->artifact.id != source->artifact.id) return taken_name(*taken);
  if (!taken && taken.error().code() != ErrorCode::kNotFound) return Failed{taken.error()};
  const CatalogueRows::Name row = row_of(to, source->artifact.id, std::move(source->settings));
  if (auto done = rows_.write_name(to, row, clock_->wall_us(), Taken::kKeep); !done) {
    return passed_on(done);
  }
  if (auto done = rows_.claim_name(to); !done) return passed_on(done);
  return find(to);
}

Result<> Catalogue::pin(const std::string& id, const Pin& pin) {
  const Result<Artifact> known = rows_.artifact(id);
  if (!known) return Failed{known.error()};
  return rows_.write_pin(id, pin);
}

Result<> Catalogue::unpin(const std::string& id, std::string_view layer) {
  return rows_.remove_pin(id, layer);
}

Result<> Catalogue::remove_name(const ModelName& name) {
  Result<Transaction> transaction = rows_.begin();
  if (!transaction) return passed_on(transaction);
  const Result<CatalogueRows::Name> row = rows_.name(name.key());
  if (!row && row.error().code() == ErrorCode::kNotFound) return unknown_name(name);
  if (!row) return Failed{row.error()};
  if (row->found) {
    if (auto done = rows_.hide(*row->found); !done) return done;
  }
  if (auto done = rows_.remove_name(row->key); !done) return done;
  if (auto done = rows_.drop_nameless(); !done) return done;
  return transaction->commit();
}

// The name's old artifact goes if this was its last name; other names of `known` follow it.
Result<NamedModel> Catalogue::replace(const ModelName& name, const ModelSettings& settings,
                                      const std::optional<Artifact>& known, Artifact artifact) {
  Result<Transaction> transaction = rows_.begin();
  if (!transaction) return passed_on(transaction);
  if (auto done = take_over(known, artifact); !done) return passed_on(done);
  const CatalogueRows::Name row = row_of(name, artifact.id, settings);
  if (auto done = rows_.write_name(name, row, clock_->wall_us(), Taken::kReplace); !done) {
    return passed_on(done);
  }
  if (auto done = rows_.drop_nameless(); !done) return passed_on(done);
  if (auto done = transaction->commit(); !done) return passed_on(done);
  return find(name);
}

// Rot is believed, whoever knows of it.
Result<> Catalogue::carry_known(Artifact& fresh) {
  const Result<std::vector<Artifact>> all = rows_.artifacts();
  if (!all) return Failed{all.error()};
  for (const Artifact& known : *all) carry_digests(known, fresh);
  return {};
}

Result<NamedModel> Catalogue::install(const ModelName& name, const Installed& model) {
  Result<Artifact> fresh = inspect_files(*files_, model.paths, model.adapters);
  if (!fresh) return passed_on(fresh);
  const std::vector<Artifact::Shard*> all = fresh->files();
  if (all.size() != model.sha256.size()) {
    return fail(ErrorCode::kInternal, "install: not one digest for each file");
  }
  const Result<std::optional<Artifact>> known = known_like(*fresh);
  if (!known) return Failed{known.error()};
  fresh->store = Store::kHearth;
  fresh->origin = model.origin;
  if (*known && !model.origin.known()) fresh->origin = (*known)->origin;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!model.unread.contains(i)) all[i]->sha256 = model.sha256[i];
  }
  if (all_hashed(*fresh)) fresh->verified_at_us = clock_->wall_us();
  if (auto done = carry_known(*fresh); !done) return passed_on(done);
  return replace(name, model.settings, *known, std::move(*fresh));
}

Result<NamedModel> Catalogue::derive(const ModelName& from, const ModelName& name,
                                     const Derived& what) {
  Result<NamedModel> base = find(from);
  if (!base) return base;
  if (what.adapters.empty()) {
    const Artifact& artifact = base->artifact;
    return replace(name, what.settings, artifact, artifact);
  }
  std::vector<std::string> paths;
  for (const Artifact::Shard& shard : base->artifact.shards) paths.push_back(shard.path);
  Result<Artifact> fresh = inspect_files(*files_, paths, what.adapters);
  if (!fresh) return passed_on(fresh);
  const Result<std::optional<Artifact>> known = known_like(*fresh);
  if (!known) return Failed{known.error()};
  carry_digests(base->artifact, *fresh);
  fresh->store = base->artifact.store;
  return replace(name, what.settings, *known, std::move(*fresh));
}

Result<std::vector<std::string>> Catalogue::paths_in_use() {
  const Result<std::vector<Artifact>> all = rows_.artifacts();
  if (!all) return Failed{all.error()};
  std::vector<std::string> paths;
  for (const Artifact& artifact : *all) {
    if (artifact.status == ArtifactStatus::kAbsent) continue;
    for (const Artifact::Shard* file : artifact.files()) paths.push_back(file->path);
  }
  return paths;
}

Result<> Catalogue::touch(const std::string& id) { return rows_.touch(id, clock_->wall_us()); }

}  // namespace hearth

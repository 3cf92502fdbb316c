// SPDX-License-Identifier: Apache-2.0
//
// The Catalogue's books on other programs' stores and watched folders.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "layers/artifact/catalogue.h"
#include "layers/artifact/catalogue_rows.h"

namespace hearth {
namespace {

using FoundAs = CatalogueRows::FoundAs;
using Name = CatalogueRows::Name;
using Taken = CatalogueRows::Taken;

// Two models of one folder may want the same name, but not the same second choice.
FoundAs found_as(Store store, const std::string& root, const FoundModel& model) {
  return FoundAs{store, root, model.name + "\n" + model.fallback};
}

Result<std::vector<std::string>> real_paths(const Files& files,
                                            const std::vector<std::string>& paths) {
  std::vector<std::string> real;
  for (const std::string& path : paths) {
    Result<std::string> resolved = files.real_path(path);
    if (!resolved) return passed_on(resolved);
    if (!is_utf8(*resolved)) {
      return fail(ErrorCode::kUnsupported, "its path is not UTF-8; rename it");
    }
    real.push_back(std::move(*resolved));
  }
  return real;
}

bool lies_at(const Artifact& artifact, const std::vector<std::string>& paths) {
  return std::ranges::equal(artifact.shards, paths, {}, &Artifact::Shard::path);
}

std::string place_of(const std::vector<std::string>& paths,
                     const std::vector<std::string>& adapters) {
  std::string place = paths.front();
  for (const std::string& adapter : adapters) place += "\n" + adapter;
  return place;
}

// Whether what the other store says of these files is news.
bool claim(Store store, const FoundModel& model, Artifact& artifact) {
  bool is_news = false;
  if (artifact.store == Store::kUser) {
    artifact.store = store;
    is_news = true;
  }
  if (artifact.store == store && !(artifact.origin == model.origin)) {
    artifact.origin = model.origin;
    is_news = true;
  }
  return is_news;
}

const Name* called(const std::vector<Name>& names, const FoundAs& as) {
  const auto found =
      std::ranges::find_if(names, [&](const Name& name) { return name.found->as == as.as; });
  return found == names.end() ? nullptr : &*found;
}

}  // namespace

Result<FoundReport> Catalogue::note_found(Store store, const std::string& root,
                                          const std::vector<FoundModel>& found,
                                          FoundExtent extent) {
  FoundReport report;
  Result<std::vector<Name>> names = rows_.names_found(store, root);
  if (!names) return passed_on(names);
  std::unordered_set<std::string> seen;
  for (const FoundModel& model : found) {
    const FoundAs as = found_as(store, root, model);
    seen.insert(as.as);
    const Result<bool> hidden = rows_.hidden(as);
    if (!hidden) return Failed{hidden.error()};
    if (*hidden) continue;
    auto noted = note_one(as, model, called(*names, as), report);
    if (!noted) return passed_on(noted);
  }
  if (extent == FoundExtent::kPart) return report;
  std::erase_if(*names, [&](const Name& name) { return seen.contains(name.found->as); });
  if (auto dropped = drop_gone(*names, report); !dropped) return passed_on(dropped);
  return report;
}

Result<> Catalogue::note_one(const FoundAs& as, const FoundModel& model, const Name* current,
                             FoundReport& report) {
  Result<Finding> finding = look_at_found(as.store, model);
  if (!finding) {
    report.refused.push_back(model.name + ": " + finding.error().message());
    return {};
  }
  const std::string& id = finding->artifact.id;
  if (current == nullptr || current->artifact != id || current->settings != model.settings) {
    finding->is_news = true;
  }
  if (!finding->is_news) return {};

  Result<std::optional<ModelName>> name = std::optional<ModelName>{};
  if (current != nullptr) {
    Result<ModelName> same = ModelName::parse(current->display);
    if (!same) return passed_on(same);
    name = std::move(*same);
  } else {
    name = name_for(model, id);
  }
  if (!name && name.error().code() != ErrorCode::kConflict) return passed_on(name);
  if (!name) {
    report.refused.push_back(name.error().message());
    return {};
  }
  if (!*name && !finding->known) return {};

  Result<Transaction> transaction = rows_.begin();
  if (!transaction) return passed_on(transaction);
  if (auto done = take_over(finding->known, finding->artifact); !done) return done;
  if (*name) {
    const Name row{(*name)->key(), (*name)->canonical(), id, model.settings, as};
    auto done = rows_.write_name(**name, row, clock_->wall_us(), Taken::kReplace);
    if (!done) return done;
  }
  if (auto done = rows_.drop_nameless(); !done) return done;
  if (current == nullptr && *name) ++report.added;
  return transaction->commit();
}

Result<Catalogue::Finding> Catalogue::look_at_found(Store store, const FoundModel& model) {
  if (model.paths.empty()) return fail(ErrorCode::kUnsupported, "it has no files");
  const Result<std::vector<std::string>> paths = real_paths(*files_, model.paths);
  if (!paths) return Failed{paths.error()};
  const Result<std::vector<std::string>> adapters = real_paths(*files_, model.adapters);
  if (!adapters) return Failed{adapters.error()};

  Result<Artifact> known = rows_.artifact_at(place_of(*paths, *adapters));
  if (!known && known.error().code() != ErrorCode::kNotFound) return passed_on(known);
  if (known && lies_at(*known, *paths)) {
    Result<Artifact> now = recheck(known->id);
    if (!now) return passed_on(now);
    Finding finding{*now, std::move(*now), false};
    finding.is_news = claim(store, model, finding.artifact);
    return finding;
  }
  Finding finding;
  Result<Artifact> fresh = inspect_files(*files_, *paths, *adapters);
  if (fresh) {
    Result<std::optional<Artifact>> same = known_like(*fresh);
    if (!same) return passed_on(same);
    finding = Finding{std::move(*same), std::move(*fresh), true};
    if (finding.known) finding.artifact.store = finding.known->store;
  } else {
    if (fresh.error().code() != ErrorCode::kCorrupt) return passed_on(fresh);
    Result<Finding> broken = found_broken(*paths, fresh.error());
    if (!broken) return broken;
    finding = std::move(*broken);
  }
  claim(store, model, finding.artifact);
  return finding;
}

Result<Catalogue::Finding> Catalogue::found_broken(const std::vector<std::string>& paths,
                                                   const Error& why) {
  Finding finding;
  finding.is_news = true;
  Artifact& artifact = finding.artifact;
  Sha256 sha;
  for (const std::string& path : paths) {
    const Result<FileInfo> info = files_->info(path);
    if (!info) return Failed{info.error()};
    Artifact::Shard shard;
    shard.path = path;
    shard.file = *info;
    artifact.shards.push_back(std::move(shard));
    sha.add("broken " + path + " " + std::to_string(info->modified_ns) + "\n");
  }
  const Digest digest = sha.finish();
  artifact.id = hex_of(digest);
  artifact.status = ArtifactStatus::kBroken;
  artifact.reason = why.message();
  Result<std::optional<Artifact>> known = known_like(artifact);
  if (!known) return passed_on(known);
  finding.known = std::move(*known);
  return finding;
}

Result<std::optional<ModelName>> Catalogue::name_for(const FoundModel& model,
                                                     const std::string& artifact) {
  for (const std::string& wanted : {model.name, model.fallback}) {
    Result<ModelName> name = ModelName::parse(wanted);
    if (!name) continue;
    const Result<Name> taken = rows_.name(name->key());
    if (!taken && taken.error().code() == ErrorCode::kNotFound) return std::optional{*name};
    if (!taken) return Failed{taken.error()};
    if (taken->artifact == artifact) return std::optional<ModelName>{};
  }
  return fail(ErrorCode::kConflict,
              model.name + ": its name stands for other files; import it under another one");
}

Result<> Catalogue::drop_gone(const std::vector<Name>& gone, FoundReport& report) {
  if (gone.empty()) return {};
  Result<Transaction> transaction = rows_.begin();
  if (!transaction) return passed_on(transaction);
  for (const Name& name : gone) {
    const Result<std::vector<Name>> all = rows_.names_of(name.artifact);
    if (!all) return Failed{all.error()};
    const Result<std::vector<Pin>> pins = rows_.pins_of(name.artifact);
    if (!pins) return Failed{pins.error()};
    const bool named_by_hand =
        std::ranges::any_of(*all, [](const Name& other) { return !other.found; });
    if (named_by_hand || !pins->empty()) continue;
    if (auto done = rows_.remove_name(name.key); !done) return done;
    ++report.removed;
  }
  if (auto done = rows_.drop_nameless(); !done) return done;
  return transaction->commit();
}

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
//
// The Catalogue's second looks: at files that may have changed, and at what hashing them brought.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "layers/artifact/blob_name.h"
#include "layers/artifact/catalogue.h"
#include "layers/artifact/catalogue_rows.h"

namespace hearth {
namespace {

// What stat says about the files against what is noted.
enum class Look { kSame, kDifferent, kMissing };

std::pair<Look, std::string> look_at(const Files& files, const Artifact& artifact) {
  std::pair<Look, std::string> seen{Look::kSame, ""};
  for (const Artifact::Shard* file : artifact.files()) {
    const Result<FileInfo> now = files.info(file->path);
    if (!now) return {Look::kMissing, now.error().message()};
    if (*now != file->file) seen = {Look::kDifferent, ""};
  }
  return seen;
}

// Noted as it was found, without ever having been a model.
bool never_whole(const Artifact& artifact) { return artifact.shards.front().header_digest.empty(); }

// Whether what is gone of it could be fetched again. A whole folder that is not there is rather a
// disk that is not mounted.
bool is_only_away(const Files& files, const Artifact& artifact) {
  const std::vector<const Artifact::Shard*> all = artifact.files();
  const std::vector<Origin::File>& published = artifact.origin.files;
  if (artifact.store != Store::kHearth || !artifact.origin.known()) return false;
  if (published.size() != all.size()) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->sha256.empty() || all[i]->sha256 != published[i].sha256) return false;
    const Result<FileInfo> now = files.info(all[i]->path);
    if (now) continue;
    const std::string folder = all[i]->path.substr(0, all[i]->path.find_last_of('/'));
    if (now.error().code() != ErrorCode::kNotFound || !files.info(folder)) return false;
  }
  return true;
}

// What the content of file `index` was promised to be by whoever published or named it.
std::string promised(const Artifact& artifact, std::size_t index) {
  const std::vector<const Artifact::Shard*> all = artifact.files();
  const std::vector<Origin::File>& published = artifact.origin.files;
  if (published.size() == all.size() && !published[index].sha256.empty()) {
    return published[index].sha256;
  }
  return digest_in_blob_name(all[index]->path).value_or("");
}

void compare(Artifact& artifact, const std::vector<std::string>& sha256) {
  const std::vector<Artifact::Shard*> all = artifact.files();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Artifact::Shard& file = *all[i];
    if (file.sha256.empty()) file.sha256 = promised(artifact, i);
    if (file.sha256.empty()) file.sha256 = sha256[i];
    file.rotten_sha256 = file.sha256 == sha256[i] ? std::string{} : sha256[i];
  }
}

}  // namespace

std::string reason_of_rot(const Artifact& artifact) {
  for (const Artifact::Shard* file : artifact.files()) {
    if (file->rotten_sha256.empty()) continue;
    return fmt::format(
        "{} holds other bytes than it did or should, though nothing else about it "
        "changed: its SHA-256 is {}, not {}",
        file->path.substr(file->path.find_last_of('/') + 1), file->rotten_sha256, file->sha256);
  }
  return {};
}

bool is_rotten(const Artifact& artifact) {
  return std::ranges::any_of(
      artifact.files(), [](const Artifact::Shard* file) { return !file->rotten_sha256.empty(); });
}

Result<Artifact> Catalogue::recheck(const std::string& id) {
  Result<Artifact> known = rows_.artifact(id);
  if (!known || known->status == ArtifactStatus::kAbsent) return known;
  const ArtifactStatus noted = known->status;
  const std::string noted_reason = known->reason;
  auto [look, reason] = look_at(*files_, *known);
  const bool noted_less = known->facts.version < ModelFacts::kVersion;
  if (look == Look::kDifferent || (look == Look::kSame && noted_less)) {
    return reinspect(std::move(*known));
  }
  if (look == Look::kMissing && is_only_away(*files_, *known)) {
    known->status = ArtifactStatus::kAbsent;
    known->reason.clear();
  } else if (look == Look::kMissing) {
    known->status = ArtifactStatus::kMissing;
    known->reason = std::move(reason);
  } else if (is_rotten(*known)) {
    known->status = ArtifactStatus::kRotten;
    known->reason = reason_of_rot(*known);
  } else if (never_whole(*known)) {
    if (known->status != ArtifactStatus::kBroken) return reinspect(std::move(*known));
  } else if (known->status != ArtifactStatus::kChanged) {
    known->status = ArtifactStatus::kOk;
    known->reason.clear();
  }
  if (known->status == noted && known->reason == noted_reason) return known;
  if (auto done = rows_.set_status(id, known->status, known->reason); !done) return passed_on(done);
  return known;
}

Result<Artifact> Catalogue::reinspect(Artifact known) {
  std::vector<std::string> paths, adapters;
  for (const Artifact::Shard& shard : known.shards) paths.push_back(shard.path);
  for (const Artifact::Shard& adapter : known.adapters) adapters.push_back(adapter.path);
  Result<Artifact> fresh = inspect_files(*files_, paths, adapters);
  if (!fresh) {
    const ErrorCode code = fresh.error().code();
    const bool broken = code == ErrorCode::kCorrupt || code == ErrorCode::kUnsupported;
    known.status = broken ? ArtifactStatus::kBroken : ArtifactStatus::kMissing;
    known.reason = fresh.error().message();
    if (auto done = rows_.set_status(known.id, known.status, known.reason); !done) {
      return passed_on(done);
    }
    return known;
  }
  fresh->store = known.store;
  fresh->origin = known.origin;
  const bool differs = !never_whole(known) && !same_content(known, *fresh);
  if (differs || known.status == ArtifactStatus::kChanged) {
    fresh->status = ArtifactStatus::kChanged;
    fresh->reason = "the files hold something else than when they were imported";
  }
  Result<Transaction> transaction = rows_.begin();
  if (!transaction) return passed_on(transaction);
  if (auto done = take_over(known, *fresh); !done) return passed_on(done);
  if (auto done = transaction->commit(); !done) return passed_on(done);
  return fresh;
}

Result<ArtifactStatus> Catalogue::note_hashed(const std::string& id,
                                              const std::vector<std::string>& sha256) {
  Result<Artifact> known = rows_.artifact(id);
  if (!known && known.error().code() == ErrorCode::kNotFound) {
    return fail(ErrorCode::kConflict, "the files are not those that were hashed any more");
  }
  if (!known) return passed_on(known);
  if (known->files().size() != sha256.size()) {
    return fail(ErrorCode::kInternal, "note_hashed: not one digest for each file");
  }
  const auto [look, reason] = look_at(*files_, *known);
  if (look == Look::kMissing) return fail(ErrorCode::kNotFound, reason);
  if (look == Look::kDifferent || known->status == ArtifactStatus::kAbsent) {
    return fail(ErrorCode::kConflict, "the files were written to while they were hashed");
  }
  compare(*known, sha256);
  if (is_rotten(*known)) {
    known->status = ArtifactStatus::kRotten;
    known->reason = reason_of_rot(*known);
  } else {
    known->verified_at_us = clock_->wall_us();
    if (known->status != ArtifactStatus::kChanged && known->status != ArtifactStatus::kBroken) {
      known->status = ArtifactStatus::kOk;
      known->reason.clear();
    }
  }
  if (auto done = rows_.store(id, *known); !done) return passed_on(done);
  return known->status;
}

Result<> Catalogue::note_absent(const std::string& id) {
  return rows_.set_status(id, ArtifactStatus::kAbsent, "");
}

}  // namespace hearth

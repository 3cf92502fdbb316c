// SPDX-License-Identifier: Apache-2.0
#include "front/verify/model_check.h"

#include <algorithm>
#include <utility>

#include "front/signed_count.h"
#include "front/verify/verdict_text.h"

namespace hearth::front {
namespace {

// A file that somebody is writing to at the moment is left alone after so many looks.
constexpr int kAttempts = 3;

bool is_here(ArtifactStatus status) {
  return status == ArtifactStatus::kOk || status == ArtifactStatus::kChanged ||
         status == ArtifactStatus::kRotten;
}

ModelCheck::Checked verdict(const NamedModel& model, std::string word, std::string text) {
  ModelCheck::Checked checked;
  checked.verified.model = model.name;
  checked.verified.verdict = std::move(word);
  checked.verified.text = std::move(text);
  checked.verified.bytes = signed_count(model.artifact.size());
  return checked;
}

ModelCheck::Checked not_here(const NamedModel& model) {
  if (model.artifact.status == ArtifactStatus::kBroken) {
    return verdict(model, "changed", text_of_change(model));
  }
  return verdict(model, "missing", text_of_absence(model));
}

Bytes size_of_bad(const Artifact& artifact, const std::vector<ModelCheck::BadParts>& rotten) {
  Bytes bad;
  for (const ModelCheck::BadParts& parts : rotten) {
    const Bytes size = artifact.files()[parts.file]->file.size;
    if (parts.known.empty()) bad += size;
    for (const std::size_t part : parts.bad) bad += part_range(part, size).size;
  }
  return bad;
}

}  // namespace

std::vector<std::string> ModelCheck::Contents::sha256() const {
  std::vector<std::string> all;
  for (const ContentReader::Read& read : files) all.push_back(read.hashed.sha256);
  return all;
}

const NamedModel* ModelCheck::find(const std::string& key) const {
  const std::vector<NamedModel>& all = world_.models();
  const auto found = std::ranges::find(all, key, &NamedModel::key);
  return found == all.end() ? nullptr : &*found;
}

Task<Result<ModelCheck::Contents>> ModelCheck::read_all(Artifact artifact, CheckControl& control) {
  Contents contents;
  const std::vector<const Artifact::Shard*> all = std::as_const(artifact).files();
  for (std::size_t i = 0; i < all.size(); ++i) {
    control.reading(artifact, i);
    Artifact::Shard file = *all[i];
    Result<ContentReader::Read> read =
        co_await reader_.read(std::move(file), ContentReader::Begin::kWhereItWas, control);
    if (!read) co_return Failed{std::move(read).error()};
    contents.files.push_back(std::move(*read));
  }
  co_return std::move(contents);
}

// Writes down what was read. What was read in pieces is not called rotten before it has been read
// once more from its beginning.
Task<Result<ArtifactStatus>> ModelCheck::settle(std::string key, Artifact artifact,
                                                Contents& contents, CheckControl& control) {
  std::vector<std::string> sha256 = contents.sha256();
  std::string id = artifact.id;
  Result<ArtifactStatus> status = co_await world_.note_hashed(std::move(id), std::move(sha256));
  if (!status || *status != ArtifactStatus::kRotten) co_return status;
  const NamedModel* model = find(key);
  if (model == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
  const Artifact rotten = model->artifact;
  bool again = false;
  for (std::size_t i = 0; i < contents.files.size(); ++i) {
    const Artifact::Shard& file = *rotten.files()[i];
    if (file.rotten_sha256.empty() || !contents.files[i].resumed) continue;
    again = true;
    control.reading(rotten, i);
    Artifact::Shard copy = file;
    Result<ContentReader::Read> read =
        co_await reader_.read(std::move(copy), ContentReader::Begin::kAnew, control);
    if (!read) co_return Failed{std::move(read).error()};
    contents.files[i] = std::move(*read);
  }
  if (!again) co_return status;
  id = rotten.id;
  sha256 = contents.sha256();
  co_return co_await world_.note_hashed(std::move(id), std::move(sha256));
}

std::optional<std::vector<Digest>> ModelCheck::known_parts(const Artifact::Shard& file) const {
  if (world_.store.path_of(file.sha256) != file.path) return world_.notes.parts(file.sha256);
  Result<transfer::PartDigests> parts = world_.store.parts(file.sha256);
  const bool fits = parts && parts->size == file.file.size && parts->part_size == FileHash::kPart &&
                    hex_of(parts->whole) == file.sha256;
  if (!fits) return std::nullopt;
  return std::move(parts->parts);
}

void ModelCheck::keep_parts(const Artifact::Shard& file, const FileHash::Hashed& hashed) const {
  const std::optional<Digest> whole = transfer::digest_of_hex(hashed.sha256);
  if (whole && world_.store.path_of(hashed.sha256) == file.path) {
    // Without them a repair fetches everything; no reason to fail.
    (void)world_.store.write_parts({file.file.size, *whole, FileHash::kPart, hashed.parts});
  } else {
    world_.notes.keep_parts(hashed.sha256, hashed.parts);
  }
}

Task<std::vector<ModelCheck::BadParts>> ModelCheck::find_bad(Artifact artifact, Contents contents) {
  auto job = [this, artifact = std::move(artifact), contents = std::move(contents)] {
    std::vector<BadParts> rotten;
    const std::vector<const Artifact::Shard*> all = artifact.files();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]->rotten_sha256.empty()) continue;
      BadParts parts;
      parts.file = i;
      if (std::optional<std::vector<Digest>> known = known_parts(*all[i])) {
        parts.known = std::move(*known);
        parts.bad = differing(parts.known, contents.files[i].hashed.parts);
        if (parts.bad.empty()) parts.known.clear();  // digests of what was rotten already
      }
      rotten.push_back(std::move(parts));
    }
    return rotten;
  };
  co_return co_await world_.pool.run(world_.loop, std::move(job));
}

// Keeps what good content is made of. Whether some file held another content when last heard of.
Task<bool> ModelCheck::keep(Artifact artifact, Contents contents, Told told) {
  auto job = [this, artifact = std::move(artifact), contents = std::move(contents), told] {
    bool changed = false;
    const std::vector<const Artifact::Shard*> all = artifact.files();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const FileHash::Hashed& hashed = contents.files[i].hashed;
      if (!known_parts(*all[i])) keep_parts(*all[i], hashed);
      const std::optional<std::string> last = world_.notes.last_content(all[i]->path);
      const bool other = last && *last != hashed.sha256;
      changed = changed || other;
      if (!last || (other && told == Told::kSomebody))
        world_.notes.keep_last(all[i]->path, hashed.sha256);
    }
    return changed;
  };
  co_return co_await world_.pool.run(world_.loop, std::move(job));
}

Task<Result<ModelCheck::Checked>> ModelCheck::attempt(std::string key, CheckControl& control) {
  const NamedModel* model = find(key);
  if (model == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
  std::string id = model->artifact.id;
  (void)co_await world_.recheck(std::move(id));  // the listing says what came of it
  model = find(key);
  if (model == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
  if (!is_here(model->artifact.status)) co_return not_here(*model);
  const bool known_changed = model->artifact.status == ArtifactStatus::kChanged;

  const Artifact artifact = model->artifact;
  Result<Contents> contents = co_await read_all(artifact, control);
  if (!contents && contents.error().code() == ErrorCode::kUnavailable) {
    model = find(key);
    if (model == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
    co_return verdict(*model, "rotten",
                      "the file cannot be read to its end: " + contents.error().message());
  }
  if (!contents) co_return Failed{std::move(contents).error()};
  const Result<ArtifactStatus> status = co_await settle(key, artifact, *contents, control);
  if (!status) co_return Failed{status.error()};
  model = find(key);
  if (model == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
  const NamedModel now = *model;

  Checked checked = verdict(now, "good", "");
  checked.read = artifact.size();
  checked.verified.sha256 = now.artifact.content().value_or("");
  if (*status == ArtifactStatus::kRotten) {
    checked.rotten = co_await find_bad(now.artifact, *contents);
    const Bytes bad = size_of_bad(now.artifact, checked.rotten);
    checked.verified.verdict = "rotten";
    checked.verified.bad_bytes = signed_count(bad);
    checked.verified.text = text_of_rot(now, bad);
    if (!checked.rotten.empty()) {
      checked.verified.sha256 = now.artifact.files()[checked.rotten.front().file]->rotten_sha256;
    }
    co_return checked;
  }
  const Told told = control.is_heard() ? Told::kSomebody : Told::kNobody;
  const bool other = co_await keep(now.artifact, *contents, told);
  if (other || known_changed) {
    checked.verified.verdict = "changed";
    checked.verified.text = text_of_change(now);
  }
  co_return checked;
}

Task<Result<ModelCheck::Checked>> ModelCheck::run(std::string key, CheckControl& control) {
  for (int n = 1;; ++n) {
    Result<Checked> checked = co_await attempt(key, control);
    if (checked) co_return checked;
    const ErrorCode code = checked.error().code();
    if (code == ErrorCode::kConflict && n < kAttempts) continue;
    const NamedModel* model = find(key);
    if (model != nullptr && code == ErrorCode::kNotFound) co_return not_here(*model);
    if (model == nullptr || code != ErrorCode::kConflict) co_return checked;
    co_return verdict(*model, "changed",
                      "somebody is writing to the file; verify it when it is whole");
  }
}

}  // namespace hearth::front

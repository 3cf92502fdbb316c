// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "layers/artifact/load_set.h"
#include "layers/artifact/model_facts.h"
#include "layers/artifact/origin.h"

namespace hearth {

// What the catalogue last found when it looked at an artifact's files.
enum class ArtifactStatus {
  kOk,
  kMissing,  // a file is gone or cannot be opened
  kChanged,  // the files now hold something else, which can be used; the facts are the new ones
  kBroken,   // the files are no longer a model
  kAbsent,   // given back; they can be fetched again
  kRotten,   // the files hold other bytes than were hashed, and nobody wrote to them
};

// Whose the files are. Only those of kHearth are ever written or deleted.
enum class Store { kUser, kHearth, kHuggingFace, kOllama, kLmStudio, kFolder };

std::string_view name_of(Store store);  // "user", "hearth", ...
std::optional<Store> store_named(std::string_view name);

std::string_view name_of(ArtifactStatus status);  // "ok", "missing", ...

// One model as files: a GGUF file, or all files of a set, in order.
struct Artifact {
  struct Shard {
    std::string path;  // absolute, links resolved
    FileInfo file;
    std::string header_digest;
    std::vector<Range> ranges;  // what a load touches
    std::string sha256;         // of the content, hexadecimal; empty until it has been hashed
    std::string rotten_sha256;  // what it was found to be instead; empty while it is right
  };

  // Stands for this exact version of the files until their content has been hashed: a digest over
  // device, inode, size, time and header of each.
  std::string id;
  std::vector<Shard> shards;
  std::vector<Shard> adapters;  // LoRA, applied by every load; part of the identity
  ModelFacts facts;
  Store store = Store::kUser;
  Origin origin;                     // where to fetch them again, if that is known
  std::int64_t imported_at_us = 0;   // wall clock
  std::int64_t last_used_at_us = 0;  // 0: never
  ArtifactStatus status = ArtifactStatus::kOk;
  std::string reason;               // why it is not ok; may hold paths
  std::int64_t verified_at_us = 0;  // when all content was last found to be what it was; 0: never

  Bytes size() const;  // adapters included
  // What stands for the content: the file's SHA-256, or one over those of all its files in order.
  // Nothing until every file has been hashed, nor while one is rotten: whatever is kept by content
  // waits for it.
  std::optional<std::string> content() const;
  // Shards, then adapters: the order of digests and of an origin's files.
  std::vector<const Shard*> files() const;
  std::vector<Shard*> files();

  LoadSet load_set() const;
};

// Reads the files that make up the model at `path` (any file of a set stands for the set) and
// checks that they belong together. Blocks on the disk. Errors: kNotFound, also for a missing file
// of a set, naming it; kCorrupt with the reason; kUnsupported for what is sound but no model for us
// (another format, an adapter by itself), saying what to do; kUnavailable.
Result<Artifact> inspect_artifact(const Files& files, const std::string& path);

// The same for files whose names say nothing, as in a store by content: `paths` are one model's, in
// order. Errors: as above.
Result<Artifact> inspect_files(const Files& files, const std::vector<std::string>& paths,
                               const std::vector<std::string>& adapters);

// Takes over from `known` the digests that `fresh` lacks, and that a file is rotten, of files that
// are still the same: same inode, size, time and header. (The device's number may be another after
// a reboot.)
void carry_digests(const Artifact& known, Artifact& fresh);

// Whether two inspections saw the same model in the same bytes, as far as header and sizes tell.
bool same_content(const Artifact& a, const Artifact& b);

}  // namespace hearth

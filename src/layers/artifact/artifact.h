// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "layers/artifact/load_set.h"
#include "layers/artifact/model_facts.h"

namespace hearth {

// What the catalogue last found when it looked at an artifact's files.
enum class ArtifactStatus {
  kOk,
  kMissing,  // a file is gone or cannot be opened
  kChanged,  // the files now hold something else, which can be used; the facts are the new ones
  kBroken,   // the files are no longer a model
};

std::string_view name_of(ArtifactStatus status);  // "ok", "missing", ...

// One model as files: a GGUF file, or all files of a set, in order.
struct Artifact {
  struct Shard {
    std::string path;  // absolute, links resolved
    FileInfo file;
    std::string header_digest;
    std::vector<Range> ranges;  // what a load touches
  };

  // Stands for this exact version of the files until their content has been hashed: a digest over
  // device, inode, size, time and header of each.
  std::string id;
  std::vector<Shard> shards;
  ModelFacts facts;
  std::int64_t imported_at_us = 0;   // wall clock
  std::int64_t last_used_at_us = 0;  // 0: never
  ArtifactStatus status = ArtifactStatus::kOk;
  std::string reason;  // why it is not ok; may hold paths

  Bytes size() const;
  LoadSet load_set() const;
};

// Reads the files that make up the model at `path` (any file of a set stands for the set) and
// checks that they belong together. Blocks on the disk. Errors: kNotFound, also for a missing file
// of a set, naming it; kCorrupt with the reason; kUnavailable.
Result<Artifact> inspect_artifact(const Files& files, const std::string& path);

// Whether two inspections saw the same model in the same bytes, as far as header and sizes tell.
bool same_content(const Artifact& a, const Artifact& b);

}  // namespace hearth

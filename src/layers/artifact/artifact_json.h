// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layers/artifact/artifact.h"

namespace hearth {

// How the catalogue keeps the parts of an artifact that no query looks into.
std::string json_of(const std::vector<Artifact::Shard>& shards);
std::string json_of(const ModelFacts& facts);

// Errors: kCorrupt.
Result<std::vector<Artifact::Shard>> shards_of(std::string_view json);
Result<ModelFacts> facts_of(std::string_view json);

}  // namespace hearth

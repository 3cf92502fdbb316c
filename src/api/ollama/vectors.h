// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "front/reply.h"

namespace hearth::api::ollama {

// The body of an answer of /api/embed.
std::string embed_json(const std::string& model, const std::vector<std::vector<float>>& vectors,
                       const front::Finished& end);
// Of /api/embeddings; no vectors: an empty one.
std::string embeddings_json(const std::vector<std::vector<float>>& vectors,
                            const RequestReport& report);

}  // namespace hearth::api::ollama

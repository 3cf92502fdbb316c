// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/reply.h"

namespace hearth::api::openai {

enum class VectorEncoding { kFloats, kBase64 };

// The body of a /v1/embeddings answer. Pure.
std::string embedding_json(std::string_view model, const std::vector<std::vector<float>>& vectors,
                           VectorEncoding encoding, const front::Finished& end);

// Little-endian float32, base64 with padding.
std::string base64_of(std::span<const float> vector);

}  // namespace hearth::api::openai

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "api/errors.h"
#include "base/result.h"
#include "front/service.h"

// Models as Ollama's lists show them. Pure.
namespace hearth::api::ollama {

// "134.52M", "8.0B"
std::string parameter_size(std::int64_t parameters);

std::string tags_entry(const front::ModelStatus& model);

// Whether its weights are in memory, which is what /api/ps lists.
bool is_running(const front::ModelStatus& model);

// `expires_at` of a model that is answering is when it would go if it stopped now; of one that
// stays until its memory is wanted, far ahead.
std::string ps_entry(const front::ModelStatus& model, std::int64_t now_us);

// An admin also sees the file. Errors: kCorrupt, when `details` are not as they should be.
Result<std::string> show_json(const front::ModelStatus& model, const front::ModelDetails& details,
                              Audience audience);

}  // namespace hearth::api::ollama

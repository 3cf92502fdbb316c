// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "front/service.h"

namespace hearth::api {

// The model that a request of llama-server's clients means, who know one server with one model: the
// one it names, or the only one there is, or the only one whose weights are in memory.
// Errors: kInvalid at "model", where none of these is one.
Result<std::string> implied_model(const front::Service& service,
                                  const std::optional<std::string>& named);

// Whether its weights are in memory, or on their way.
bool is_loaded(const front::ModelStatus& model);

}  // namespace hearth::api

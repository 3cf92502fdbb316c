// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/errors.h"
#include "front/service.h"

namespace hearth::api {

// In a list, or alone and then with the settings of its name, which may be long.
enum class Extent { kBrief, kWhole };

std::string model_json(const front::ModelStatus& model, Audience audience,
                       Extent extent = Extent::kBrief);

// Where something was pulled from. Only admins see what may be a secret in a URL.
std::string shown_source(const std::string& source, Audience audience);

}  // namespace hearth::api

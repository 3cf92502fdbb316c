// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "front/service.h"

namespace hearth::api {

// Who reads it: only those who run the server see where files lie.
enum class Audience { kAdmin, kClients };

std::string model_json(const front::ModelStatus& model, Audience audience);

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/errors.h"
#include "front/service.h"

namespace hearth::api {

std::string model_json(const front::ModelStatus& model, Audience audience);

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/model.h"
#include "front/service.h"

namespace hearth::front {

// What lists show of a named model; `model` is null while nobody has asked for it. Pure.
ModelStatus model_status(const NamedModel& named, const Model* model, TimePoint now);

}  // namespace hearth::front

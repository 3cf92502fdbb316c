// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "front/model.h"
#include "front/service.h"

namespace hearth::front {

// What lists show of a named model; `model` is null while nobody has asked for it. Pure.
ModelStatus model_status(const NamedModel& named, const Model* model, TimePoint now);

// `errors`: of this model's last forecasts. Pure.
PredictedTtft predicted_ttft(const Outlook& outlook, std::vector<double> errors);

// What of a model's files other names in the list use too. Pure.
Bytes shared_with_others(const NamedModel& named, const std::vector<NamedModel>& all);

}  // namespace hearth::front

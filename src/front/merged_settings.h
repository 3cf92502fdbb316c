// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "front/transfer.h"
#include "layers/artifact/model_settings.h"

namespace hearth::front {

// The settings of a model made from another: what the request says takes the place of what `base`
// has, of the parameters one by one; a parameter that is null goes. Pure. Errors: kInvalid, with
// the field.
Result<ModelSettings> merged_settings(ModelSettings base, const CreateRequest& request);

}  // namespace hearth::front

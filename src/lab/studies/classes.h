// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/studies/arm.h"

namespace hearth::lab {

// One fixed request in each class of response, from a machine that was just started to the same
// question asked twice. kFull adds shares of pages, patterns, and each competing workload both
// before and during the request.
Study response_classes(Preset preset);

}  // namespace hearth::lab

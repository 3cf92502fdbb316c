// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "front/prefix/prefix_room.h"
#include "timeline/prefix_use.h"

namespace hearth::front {

// Whether a model's restored state must end where a micro-batch did.
enum class Exactness { kAsComputed, kWholeBatches };

// What a prompt that has just started took from earlier ones, by what was found for it and what the
// worker made of that. A miss is told only where tokens were evaluated that might have come from
// there. Pure.
PrefixUse prefix_use_of(const PrefixRoom::Found& found, const wire::StartedMessage& started,
                        Exactness exactness);

}  // namespace hearth::front

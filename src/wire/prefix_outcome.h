// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/object_reader.h"
#include "wire/prefix_messages.h"

namespace hearth::wire {

// A part of StartedMessage, which has no payload of its own.
PrefixOutcome read_prefix_outcome(ObjectReader& in);

}  // namespace hearth::wire

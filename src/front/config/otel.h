// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/config.h"

namespace hearth::front {

// Takes over what OpenTelemetry's variables say of traces, for options that nobody has set, and
// notes each one. They are often set for all programs of a machine: one that cannot be followed
// refuses no start, it is noted.
void read_otel_variables(Config& config, const Environment& environment);

}  // namespace hearth::front

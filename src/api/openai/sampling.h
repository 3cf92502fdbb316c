// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "api/openai/requests.h"

namespace hearth::api::openai {

// Reads what both generating routes take: model, sampling, limits, stop strings, streaming.
void read_common(const Fields& body, GenerateCall& call);

// keep_alive and ttl: their form is checked, they have no effect yet.
void check_residency_hints(const Fields& body);

}  // namespace hearth::api::openai

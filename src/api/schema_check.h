// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"

namespace hearth::api {

// How a JSON schema is used: to steer a whole reply, which then must follow it, or as a tool's
// parameters, of which the model is told more than a grammar can enforce.
enum class SchemaUse { kReply, kParameters };

// Refuses, by its path, what the engine's grammars would take minutes for (repetitions within
// repetitions, large counts), what contradicts itself, and in a reply's schema what they would
// silently leave out: a reply that breaks its schema is worse than a refusal.
void check_schema(const Fields& schema, SchemaUse use);

}  // namespace hearth::api

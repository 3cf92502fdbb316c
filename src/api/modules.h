// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "api/generation.h"

// What a request says of modules, in the same words in all dialects:
// "hearth": {"modules": ["house", "tools"], "approximate": false}. Whether there are such modules
// is not a parser's matter.
namespace hearth::api {

void read_modules(const Fields& body, RequestOptions& options);

// Modules stand in the messages' system text: an error where there are no messages. Once the prompt
// has been read.
void check_modules(const Fields& body, const GenerateCall& call);

}  // namespace hearth::api

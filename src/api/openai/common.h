// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "api/openai/requests.h"

namespace hearth::api::openai {

// Reads what both generating routes take: model, sampling, limits, stop strings, streaming.
void read_common(const Fields& body, ChatCall& call);

// grammar and min_tokens, once tools and response_format have been read, which exclude them.
void read_grammar(const Fields& body, wire::GenerateMessage& message);
void read_min_tokens(const Fields& body, wire::GenerateMessage& message);

// What a request to embed takes too.
void read_options(const Fields& body, RequestOptions& options);

}  // namespace hearth::api::openai

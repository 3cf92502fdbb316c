// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layers/artifact/source/source_index.h"

namespace hearth::registry {

// `{endpoint}/v2/{namespace}/{name}/manifests/{tag}`.
IndexRequest index_request(const ModelSource& source);

// Where a token for nobody in particular can be had, as a 401 says. Errors: kInvalid, when it asks
// for something else; kCorrupt, when what it says makes no sense.
Result<IndexRequest> token_request(const ModelSource& source, const IndexAnswer& refused);

// The header that the token goes into. Errors: kCorrupt; kInvalid, when none was given.
Result<HeaderField> token_header(const IndexAnswer& answer);

// The layers of a manifest. Errors: those of hearth::plan_of().
Result<FetchPlan> plan_of(const ModelSource& source, const IndexAnswer& answer);

}  // namespace hearth::registry

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layers/artifact/source/source_index.h"

namespace hearth::huggingface {

// `{endpoint}/api/models/{repository}/revision/{revision}?blobs=true`: all files of a repository
// with size and SHA-256.
IndexRequest index_request(const ModelSource& source);

// The files of one quantisation. Projectors, importance matrices and adapters in the repository are
// left out. Errors: those of hearth::plan_of().
Result<FetchPlan> plan_of(const ModelSource& source, const IndexAnswer& answer);

}  // namespace hearth::huggingface

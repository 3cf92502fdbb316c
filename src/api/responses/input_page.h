// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "http/message.h"

namespace hearth::api::responses {

// A page of the items that were kept as `input` (JSON list): ?limit= (1 to 100, 20 by default),
// ?order= (desc by default, or asc), ?after= an item's id. Pure. Errors: kInvalid, when the query
// is malformed or names an item that is not there; kCorrupt.
Result<std::string> input_page(const std::string& input, const http::HttpRequest& request);

}  // namespace hearth::api::responses

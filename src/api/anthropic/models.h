// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "front/service.h"
#include "http/message.h"

// /v1/models for Anthropic's clients. Pure.
namespace hearth::api::anthropic {

std::string model_entry(const front::ModelStatus& model);

// A page of the list: ?limit= (1 to 1000, 20 by default) models from the beginning, after
// ?after_id=, or just before ?before_id=. Errors: kInvalid, when the query is malformed or names a
// model that is not in the list.
Result<std::string> model_page(std::span<const front::ModelStatus> models,
                               const http::HttpRequest& request);

}  // namespace hearth::api::anthropic

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "api/model_json.h"

namespace hearth::api::admin {

// The model as the caller may see it, or why it is not there.
inline http::HttpResponse model_answer(const Call& call, const Result<front::ModelStatus>& model) {
  const Audience audience = audience_of(call);
  if (!model) return error_response(call.dialect, audience, model.error());
  return http::HttpResponse::json(200, model_json(*model, audience, Extent::kWhole));
}

}  // namespace hearth::api::admin

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "front/service.h"
#include "http/message.h"

namespace hearth::api::admin {

inline constexpr int kMaxHistory = 1000;

// ?limit=&before=&model= of /api/hearth/requests. Pure. Errors: kInvalid (limit).
Result<HistoryQuery> parse_history_query(const http::HttpRequest& request);

}  // namespace hearth::api::admin

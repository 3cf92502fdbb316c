// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "http/message.h"
#include "timeline/trace_context.h"

namespace hearth::api {

// What the headers `traceparent` and `tracestate` say; nothing where the first is absent, malformed
// or there twice.
std::optional<TraceContext> trace_parent_of(const http::HttpRequest& request);

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "http/message.h"
#include "timeline/report.h"

namespace hearth::api {

// What each answer says about itself beside its body: X-Request-Id, and as far as they are known
// X-Hearth-Class, X-Hearth-Cold-Layer (absent when warm), X-Hearth-Truncated (absent when the
// prompt was taken whole), traceparent (absent where there is no trace) and Server-Timing.
void add_report_headers(http::Headers& headers, const std::string& request_id,
                        const RequestReport& report);

// `Prefer: wait=N` (RFC 7240): how long, in seconds, the client would wait for a cold model. What
// is malformed counts as not said.
std::optional<Duration> preferred_wait(const http::HttpRequest& request);

}  // namespace hearth::api

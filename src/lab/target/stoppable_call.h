// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/result.h"
#include "http/client.h"

namespace hearth::lab {

// As http::Client::call(), but returns within a tenth of a second once `stop` (may be empty) is
// true. The connection is then left to a thread of its own, which ends with the answer, with the
// server, or with the call's timeouts. Errors: as there; kCancelled.
Result<http::HttpResponse> call_until_stopped(const http::Client& client,
                                              const http::Client::Call& call,
                                              const std::function<bool()>& stop);

}  // namespace hearth::lab

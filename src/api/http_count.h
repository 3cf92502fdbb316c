// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "front/service.h"
#include "http/message.h"

namespace hearth::api {

// Counts an answer in the metrics, under the route that it came by; `head` is null where nothing of
// the request could be read. Paths and methods that no route has are never repeated: they are
// "other".
void count_answer(front::Service& service, const http::HttpRequest* head, int status,
                  TimePoint now);

}  // namespace hearth::api

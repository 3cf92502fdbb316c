// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/async.h"
#include "front/reply.h"

namespace hearth::api {

// Waits for the end of a reply to a request for vectors, Finished or Refused. The vectors that came
// before are left in `embedded`.
Task<front::Event> collect_embedding(front::Reply& reply, front::Embedded& embedded);

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#include "api/collect_embedding.h"

#include <utility>

namespace hearth::api {

Task<front::Event> collect_embedding(front::Reply& reply, front::Embedded& embedded) {
  for (;;) {
    front::Event event = co_await reply.next();
    if (auto* vectors = std::get_if<front::Embedded>(&event)) embedded = std::move(*vectors);
    if (std::holds_alternative<front::Finished>(event) ||
        std::holds_alternative<front::Refused>(event)) {
      co_return std::move(event);
    }
  }
}

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#include "api/http_count.h"

#include <variant>

#include "api/api.h"
#include "api/router.h"
#include "timeline/metrics.h"

namespace hearth::api {

void count_answer(front::Service& service, const http::HttpRequest* head, int status,
                  TimePoint now) {
  HttpAnswer answer{.method = "other", .route = "other", .status = status};
  if (head != nullptr) {
    const Match match = Router{routes()}.match(head->method, head->path);
    if (const auto* found = std::get_if<Found>(&match)) {
      // A GET route takes HEAD, too.
      answer.method = head->method == "HEAD" ? "HEAD" : found->route->method;
      answer.route = found->route->pattern;
    }
    if (head->first_byte != TimePoint{}) answer.took = now - head->first_byte;
  }
  service.metrics().http_answered(answer);
}

}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#include "cli/why.h"

#include "base/clock.h"
#include "cli/timeline_view.h"

namespace hearth::cli {

int why(const Session& session, const std::string& id) {
  const auto answer =
      session.api.get("/api/hearth/requests/" + percent_encode(id.empty() ? "last" : id));
  const auto request = object_of(answer);
  if (!request) return report(request.error());
  print(session.json() ? *answer + "\n"
                       : timeline_view(*request, Clock::real().wall_us(), session.out));
  return kExitOk;
}

}  // namespace hearth::cli

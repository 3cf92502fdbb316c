// SPDX-License-Identifier: Apache-2.0

#include "base/version.h"

#include <fmt/format.h>

#include "cli/json_fields.h"
#include "cli/models.h"

namespace hearth::cli {

int show_version(const Session& session) {
  const auto answer = session.api.get("/api/hearth/version");
  if (!answer && answer.error().code() != ErrorCode::kUnavailable) return report(answer.error());
  const auto server = object_of(answer);
  if (session.json()) {
    boost::json::object versions{{"client", version()}, {"server", nullptr}};
    if (server) versions["server"] = *server;
    print(boost::json::serialize(versions) + "\n");
    return kExitOk;
  }
  print(fmt::format("client  {}\n", version()));
  if (!server) {
    print(fmt::format("server  none answers at {}\n", session.api.address()));
    return kExitOk;
  }
  std::string line = text_in(*server, "version");
  if (const std::string engine = text_in(*server, "engine"); !engine.empty()) {
    line += ", engine " + engine;
  }
  print(fmt::format("server  {} at {}\n", line, session.api.address()));
  return kExitOk;
}

}  // namespace hearth::cli

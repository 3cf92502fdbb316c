// SPDX-License-Identifier: Apache-2.0
#include "cli/prefix.h"

#include "cli/answer.h"
#include "cli/prefix_view.h"

namespace hearth::cli {

int show_prefix(const Session& session) {
  const auto answer = session.api.get("/api/hearth/prefix");
  if (session.json()) return print_json(answer);
  const auto object = object_of(answer);
  if (!object) return report(object.error());
  print(prefix_view(*object, session.out));
  return kExitOk;
}

}  // namespace hearth::cli

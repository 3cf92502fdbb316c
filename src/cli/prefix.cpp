// SPDX-License-Identifier: Apache-2.0
#include "cli/prefix.h"

#include "cli/answer.h"
#include "cli/prefix_view.h"

namespace hearth::cli {
namespace {

using View = std::string (*)(const boost::json::object&, const OutputStyle&);

int show(const Session& session, const char* target, View view) {
  const auto answer = session.api.get(target);
  if (session.json()) return print_json(answer);
  const auto object = object_of(answer);
  if (!object) return report(object.error());
  print(view(*object, session.out));
  return kExitOk;
}

}  // namespace

int show_prefix(const Session& session) { return show(session, "/api/hearth/prefix", prefix_view); }

int show_doctor(const Session& session) { return show(session, "/api/hearth/doctor", doctor_view); }

}  // namespace hearth::cli

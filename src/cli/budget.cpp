// SPDX-License-Identifier: Apache-2.0
#include "cli/budget.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/answer.h"
#include "cli/claim_view.h"
#include "cli/levels_view.h"
#include "cli/lines.h"
#include "cli/memory_view.h"
#include "cli/moves_view.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kNoMoves = "Nothing was moved since the server's start";

Result<std::string> ask(const Session& session, std::string_view what) {
  auto answer = session.api.get(fmt::format("/api/hearth/{}", what));
  if (answer || answer.error().code() != ErrorCode::kNotFound) return answer;
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("the server at {} is too old for `hearth {}`; `hearth version` tells both",
                  session.api.address(), what));
}

}  // namespace

int show_memory(const Session& session) {
  const auto answer = ask(session, "memory");
  if (session.json()) return print_json(answer);
  const auto memory = object_of(answer);
  if (!memory) return report(memory.error());
  print(memory_view(*memory, session.out));
  return kExitOk;
}

int list_moves(const Session& session, std::size_t most) {
  const auto answer = ask(session, "moves");
  if (session.json()) return print_json(answer);
  const auto moves = object_of(answer);
  if (!moves) return report(moves.error());
  const std::string view = moves_view(*moves, most, Clock::real().wall_us(), session.out);
  if (!view.empty()) {
    print(view);
  } else if (session.out.terminal) {
    print(sentence_line(kNoMoves, 0, session.out));
  }
  return kExitOk;
}

int show_levels(const Session& session) {
  const auto answer = ask(session, "levels");
  if (session.json()) return print_json(answer);
  const auto levels = object_of(answer);
  if (!levels) return report(levels.error());
  print(levels_view(*levels, Clock::real().wall_us(), session.out));
  return kExitOk;
}

ModelNotes broken_claims(const Session& session) {
  const auto levels = object_of(session.api.get("/api/hearth/levels"));
  return levels ? claim_notes(*levels) : ModelNotes{};
}

}  // namespace hearth::cli

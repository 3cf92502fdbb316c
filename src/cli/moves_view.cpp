// SPDX-License-Identifier: Apache-2.0
#include "cli/moves_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/bytes.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/lines.h"
#include "cli/model_fields.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

struct Cause {
  std::string_view cause;
  std::string_view words;
};

constexpr std::array kCauses{
    Cause{"pressure", "memory was short"},
    Cause{"idle", "idle"},
    Cause{"asked", "asked"},
    Cause{"prewarm", "ahead of requests"},
    Cause{"protected", "for a service"},
};

std::string why_text(const boost::json::object& move) {
  const std::string error = text_in(move, "error");
  if (!error.empty()) return "failed: " + error;
  const std::string whom = text_in(move, "for");
  if (!whom.empty()) return "for " + whom;
  const std::string cause = text_in(move, "cause");
  const auto* known = std::ranges::find(kCauses, cause, &Cause::cause);
  return known == kCauses.end() ? or_nothing(cause) : std::string{known->words};
}

std::string ago_text(const boost::json::object& move, std::int64_t now_us) {
  const double seconds = seconds_since(move, "at_us", now_us);
  return seconds < 0 ? std::string{kNothing} : format_span(seconds);
}

std::string step_text(const boost::json::object& move, const OutputStyle& style) {
  return fmt::format("{} {} {}", or_nothing(text_in(move, "from")), style.unicode ? "→" : "->",
                     or_nothing(text_in(move, "to")));
}

}  // namespace

std::string moves_view(const boost::json::object& answer, std::size_t most, std::int64_t now_us,
                       const OutputStyle& style) {
  const auto moves = objects_in(answer, "moves");
  if (moves.empty()) return {};
  Table table{{{"AGO", Align::kRight},
               {"MODEL"},
               {"LAYER"},
               {"FROM, TO"},
               {"BYTES", Align::kRight, 2},
               {"TOOK", Align::kRight, 1},
               {"WHY"}}};
  const std::size_t shown = std::min(most, moves.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const boost::json::object& move = *moves[i];
    table.add({ago_text(move, now_us), text_in(move, "model"), text_in(move, "layer"),
               step_text(move, style), bytes_text(move, "bytes"),
               format_milliseconds(number_in(move, "ms").value_or(0)), why_text(move)});
  }
  std::string text = table.render(style);
  if (style.terminal && shown < moves.size()) {
    text += sentence_line(fmt::format("{} older ones are known; `hearth moves -n {}` shows them",
                                      moves.size() - shown, moves.size()),
                          0, style);
  }
  return text;
}

}  // namespace hearth::cli

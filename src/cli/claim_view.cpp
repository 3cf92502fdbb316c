// SPDX-License-Identifier: Apache-2.0
#include "cli/claim_view.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/lines.h"
#include "cli/model_fields.h"
#include "cli/table.h"

namespace hearth::cli {
namespace {

using Object = boost::json::object;

constexpr std::size_t kIndent = 2;

std::string ms_text(const Object& object, std::string_view name) {
  const auto ms = number_in(object, name);
  return ms ? format_milliseconds(*ms) : std::string{kNothing};
}

std::string span_text(const Object& object, std::string_view name) {
  const auto seconds = number_in(object, name);
  return seconds ? format_span(*seconds) : std::string{kNothing};
}

std::string met_text(const Object& claim) {
  return fmt::format("{} of {}", integer_in(claim, "met"), integer_in(claim, "of"));
}

// "a start now may take 2.80 s"; empty while nobody knows.
std::string bound_text(const Object& claim) {
  if (!number_in(claim, "bound_ms")) return {};
  return "a start now may take " + ms_text(claim, "bound_ms");
}

std::string missed_text(const Object& claim) {
  return fmt::format("{} after {} without use was missed {} of {} times", ms_text(claim, "ttft_ms"),
                     span_text(claim, "idle_gap_s"),
                     integer_in(claim, "of") - integer_in(claim, "met"), integer_in(claim, "of"));
}

std::string proof_text(const Object& claim) {
  const std::string state = text_in(claim, "state");
  const std::string sure = format_percent(number_in(claim, "wilson_low").value_or(0));
  if (state == "missed") return missed_text(claim);
  if (state == "proved") {
    return fmt::format("proved: {} or more of such starts are in time, with 95% confidence", sure);
  }
  if (state == "holding") {
    return fmt::format("in time each time so far, which proves {} or more with 95% confidence",
                       sure);
  }
  return "no pause of " + span_text(claim, "idle_gap_s") + " has ended yet";
}

std::vector<std::string> given_up_texts(const Object& claim) {
  std::vector<std::string> texts;
  for (const Object* layer : objects_in(claim, "given_up")) {
    texts.push_back(text_in(*layer, "layer") + " given up: " + text_in(*layer, "why"));
  }
  return texts;
}

// Of the last misses the newest: "missed 3 h ago, after 9 h without use: 512 ms (probe)".
std::string last_miss_text(const Object& claim, std::int64_t now_us) {
  for (const Object* last : objects_in(claim, "last")) {
    if (flag_in(*last, "met")) continue;
    std::string text =
        fmt::format("missed {}, after {} without use: {} ({})",
                    format_age(seconds_since(*last, "at_us", now_us)), span_text(*last, "gap_s"),
                    number_in(*last, "ttft_ms") ? ms_text(*last, "ttft_ms") : "no answer",
                    text_in(*last, "kind"));
    if (flag_in(*last, "harmed")) text += "; a service that comes first was harmed for it";
    const double rise = number_in(*last, "psi_rise").value_or(0);
    if (rise > 1) text += fmt::format("; memory pressure was {:.1f} points higher for it", rise);
    return text;
  }
  return {};
}

std::string probe_text(const Object& claim, std::int64_t now_us) {
  const Object& probe = part_in(claim, "probe");
  if (const std::string error = text_in(probe, "error"); !error.empty()) {
    return "the last probe came to nothing: " + error;
  }
  const std::int64_t due = integer_in(probe, "due_us");
  if (due == 0) return {};
  if (due <= now_us) return "a probe is due";
  return "a probe is due in " + format_span(static_cast<double>(due - now_us) / 1e6);
}

std::vector<std::string> sentences_of(const Object& claim, std::int64_t now_us) {
  std::vector<std::string> all{text_in(claim, "reason")};
  for (std::string& text : given_up_texts(claim)) {
    if (text != all.front()) all.push_back(std::move(text));
  }
  all.push_back(proof_text(claim));
  all.push_back(last_miss_text(claim, now_us));
  all.push_back(probe_text(claim, now_us));
  std::erase(all, "");
  return all;
}

// Asked for and not had.
bool is_broken(const Object& claim) {
  return text_in(claim, "state") == "missed" || text_in(claim, "promise") == "cannot" ||
         !given_up_texts(claim).empty();
}

std::string note_of(const Object& claim) {
  std::vector<std::string> parts;
  if (text_in(claim, "state") == "missed") parts.push_back(missed_text(claim));
  // Of one that is missed although it should be met, the reason tells of the plan alone.
  if (text_in(claim, "promise") != "meets") parts.push_back(text_in(claim, "reason"));
  if (parts.empty()) parts = given_up_texts(claim);
  parts.push_back(bound_text(claim));
  std::erase(parts, "");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

}  // namespace

std::string claims_view(const Object& levels, std::int64_t now_us, const OutputStyle& style) {
  Table table{{{"MODEL"},
               {"WITHIN", Align::kRight},
               {"AFTER", Align::kRight},
               {"STATE"},
               {"MET", Align::kRight},
               {"NOW UP TO", Align::kRight},
               {"KEPT", Align::kLeft, 2},
               {"STANDS", Align::kLeft, 1}}};
  std::string notes;
  for (const Object* warm : objects_in(levels, "warmth")) {
    const std::string model = text_in(*warm, "model");
    const Object* claim = object_in(*warm, "claim");
    if (claim == nullptr) {
      table.add({model, "-", "-", "not looked at yet", "-", "-", "-", "-"});
      continue;
    }
    table.add({model, ms_text(*claim, "ttft_ms"), span_text(*claim, "idle_gap_s"),
               or_nothing(text_in(*claim, "state")), met_text(*claim), ms_text(*claim, "bound_ms"),
               or_nothing(text_in(*claim, "rung")), or_nothing(text_in(*claim, "stands"))});
    const auto paint = is_broken(*claim) ? Paint::kYellow : Paint::kPlain;
    notes += '\n' + style.paint(paint, one_line(model)) + '\n';
    for (const std::string& text : sentences_of(*claim, now_us)) {
      notes += std::string(kIndent, ' ') + sentence_line(text, kIndent, style);
    }
  }
  return table.empty() ? std::string{} : table.render(style) + notes;
}

ModelNotes claim_notes(const Object& levels) {
  ModelNotes notes;
  for (const Object* warm : objects_in(levels, "warmth")) {
    const Object* claim = object_in(*warm, "claim");
    if (claim == nullptr || !is_broken(*claim)) continue;
    if (std::string note = note_of(*claim); !note.empty()) {
      notes[text_in(*warm, "model")] = std::move(note);
    }
  }
  return notes;
}

}  // namespace hearth::cli

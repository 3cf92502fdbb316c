// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/claim_view.h"
#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/lines.h"
#include "cli/memory_view.h"
#include "cli/model_fields.h"
#include "cli/model_view.h"
#include "cli/table.h"
#include "cli/timeline_bar.h"

namespace hearth::cli {
namespace {

using Object = boost::json::object;
using Lines = std::vector<std::string>;

constexpr std::size_t kStageWidth = 17;  // "artifact.metadata"
constexpr std::size_t kTimeWidth = 8;
constexpr std::size_t kBesideBar = 2 + kStageWidth + 2 + kTimeWidth + 2;
constexpr std::size_t kWidestBar = 60;
constexpr double kWorthALine = 0.01;  // of the time so far
constexpr std::size_t kLeast = 4;     // lines that a part keeps where there is too little room

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void append(Lines& to, Lines more) { std::ranges::move(more, std::back_inserter(to)); }

// ---- above all ----

std::string title_line(const TopState& state, TimePoint now, const OutputStyle& style) {
  const std::string version = one_line(text_in(state.version, "version"));
  std::string text = fmt::format("hearth {} at {}", version, state.address);
  if (const auto up = number_in(state.version, "uptime_ms")) {
    const double since_ms = milliseconds_of(now - state.version_read);
    text += ", up " + format_milliseconds(*up + std::max(0.0, since_ms));
  }
  const bool live = state.link == TopState::Link::kLive;
  const std::string_view link = live ? "live" : "not connected, trying again";
  text = clip(text, style.width - std::min(style.width, link.size() + 2));
  return style.paint(Paint::kBold, text) + "  " +
         style.paint(live ? Paint::kGreen : Paint::kRed, link);
}

struct Today {
  std::size_t replies = 0;
  double all_ms = 0, cold_ms = 0;
  WaitSplit split{};
};

Today today_of(const TopState& state, const TopMoment& moment) {
  Today today;
  for (const TopState::Wait& wait : state.waits) {
    if (wait.started_us < moment.midnight_us) continue;
    ++today.replies;
    for (std::size_t i = 0; i < wait.split.size(); ++i) {
      today.split[i] += wait.split[i];
      today.all_ms += wait.split[i];
      if (i < kColdParts) today.cold_ms += wait.split[i];
    }
  }
  return today;
}

// "41.0 s today for 23 requests; 33.0 s of it for cold layers: weights 30.0 s, pages 3.00 s"
std::string waited_text(const Today& today) {
  if (today.replies == 0) return "nobody today";
  std::string text = fmt::format("{} today for {} {}", format_milliseconds(today.all_ms),
                                 today.replies, today.replies == 1 ? "request" : "requests");
  if (today.cold_ms < 0.05) return text + ", none of it for cold layers";
  text += fmt::format("; {} of it for cold layers", format_milliseconds(today.cold_ms));
  std::vector<std::pair<double, std::string_view>> parts;
  for (std::size_t i = 0; i < kColdParts; ++i) {
    if (today.split[i] >= 0.05) parts.emplace_back(today.split[i], kWaitParts[i]);
  }
  std::ranges::sort(parts, std::greater{});
  std::string_view before = ": ";
  for (const auto& [ms, name] : parts) {
    text += fmt::format("{}{} {}", std::exchange(before, ", "), name, format_milliseconds(ms));
  }
  return text;
}

Lines head(const TopState& state, const TopMoment& moment, const OutputStyle& style) {
  Lines lines{title_line(state, moment.now, style)};
  append(lines, lines_of(budget_view(state.memory, style)));
  append(lines, lines_of(key_line("waited", waited_text(today_of(state, moment)), style)));
  return lines;
}

// ---- parts ----

bool is_warm(const boost::json::value& model) {
  return model.is_object() && !is_stone_cold(model.get_object());
}

// The warm ones first; else as the server lists them.
boost::json::array sorted(boost::json::array models) {
  std::stable_sort(models.begin(), models.end(),
                   [](const auto& a, const auto& b) { return is_warm(a) && !is_warm(b); });
  return models;
}

// Unlike `ps` it gives up anything but the first token before that.
Lines models_part(const TopState& state, std::int64_t now_us, const OutputStyle& style) {
  Table table{{{"NAME"},
               {"ARTIFACT", Align::kLeft, 4},
               {"PAGES"},
               {"WEIGHTS"},
               {"COMPILED", Align::kLeft, 5},
               {"PREFIX", Align::kLeft, 6},
               {"TTFT NOW", Align::kRight, 7},
               {"MEMORY", Align::kRight, 3},
               {"UNTIL", Align::kLeft, 1},
               {"BUSY", Align::kLeft, 2}}};
  const ModelNotes notes = claim_notes(state.levels);
  for (const auto& value : sorted(state.models)) {
    const Object* model = value.if_object();
    if (model == nullptr) continue;
    std::vector<std::string> cells{text_in(*model, "name")};
    for (const std::string_view layer : kLayers) cells.push_back(layer_text(*model, layer));
    cells.push_back(ttft_text(*model));
    cells.push_back(memory_text(*model));
    cells.push_back(until_text(*model, now_us));
    cells.push_back(busy_text(*model));
    table.add(std::move(cells));
    const auto note = notes.find(text_in(*model, "name"));
    if (note != notes.end()) table.note(note->second);
  }
  return table.empty() ? Lines{"No models yet"} : lines_of(table.render(style));
}

std::string stage_line(const TopState::Stage& stage, double elapsed_ms, const OutputStyle& style) {
  const double ms = stage.ms.value_or(std::max(0.0, elapsed_ms - stage.start_ms));
  const std::size_t room =
      std::min(style.width > kBesideBar ? style.width - kBesideBar : 0, kWidestBar);
  const BarStyle bars = style.unicode ? BarStyle::kUnicode : BarStyle::kAscii;
  const Place place =
      elapsed_ms > 0 ? Place{stage.start_ms / elapsed_ms, ms / elapsed_ms} : Place{};
  const std::string bar = style.terminal ? timeline_bar(place, room, bars) : std::string{};
  const std::string name = pad_right(clip(one_line(stage.name), kStageWidth), kStageWidth);
  const std::string text =
      fmt::format("  {}  {}", name, pad_left(format_milliseconds(ms), kTimeWidth));
  if (bar.empty()) return text;
  return text + "  " + style.paint(stage.ms ? Paint::kCyan : Paint::kGreen, bar);
}

// What it is doing now, as far as that is told.
std::string_view doing(const TopState::UnderWay& one) {
  for (const TopState::Stage& stage : one.stages) {
    if (!stage.ms) return stage.name == "decode" ? "writing" : "loading";
  }
  return one.stages.empty() ? "waiting" : "on the way to its first token";
}

Lines request_lines(const TopState::UnderWay& one, TimePoint now, const OutputStyle& style) {
  const double elapsed_ms = std::max(0.0, milliseconds_of(now - one.since));
  std::string title = fmt::format("{}  {}  {}", or_nothing(one_line(one.model)),
                                  format_milliseconds(elapsed_ms), doing(one));
  if (one.ttft_ms) title += ", first token after " + format_milliseconds(*one.ttft_ms);
  if (!one.path.empty()) title += "  " + one_line(one.path);
  Lines lines{clip(title, style.width)};
  for (const TopState::Stage& stage : one.stages) {
    const bool is_short = stage.ms && *stage.ms < kWorthALine * elapsed_ms;
    if (!is_short) lines.push_back(stage_line(stage, elapsed_ms, style));
  }
  return lines;
}

Lines under_way_part(const TopState& state, TimePoint now, const OutputStyle& style) {
  Lines lines{style.paint(Paint::kBold, "Under way")};
  if (state.under_way.empty()) lines.push_back(style.paint(Paint::kDim, "nothing"));
  for (const auto& one : state.under_way) append(lines, request_lines(one, now, style));
  return lines;
}

std::string why_text(const Object& entry) {
  const std::string outcome = text_in(entry, "outcome");
  const std::string message = text_in(entry, "message");
  if (outcome != "ok" && !outcome.empty()) {
    return message.empty() || message == outcome ? outcome : outcome + ": " + message;
  }
  return or_nothing(text_in(part_in(entry, "verdict"), "text"));
}

std::string ms_text(const Object& entry, std::string_view name) {
  const auto ms = number_in(entry, name);
  return ms ? format_milliseconds(*ms) : std::string{kNothing};
}

Lines replies_part(const TopState& state, std::int64_t now_us, const OutputStyle& style) {
  Lines lines{style.paint(Paint::kBold, "Last replies")};
  Table table{{{"WHEN", Align::kLeft, 4},
               {"MODEL"},
               {"CLASS"},
               {"FIRST TOKEN", Align::kRight},
               {"ALL", Align::kRight, 2},
               {"TOKENS/S", Align::kRight, 1},
               {"WHY", Align::kLeft, 3}}};
  for (const Object& entry : state.recent) {
    const auto rate = number_in(entry, "tokens_per_s");
    table.add({format_age(seconds_since(entry, "started_us", now_us)),
               or_nothing(text_in(entry, "model")), or_nothing(text_in(entry, "class")),
               ms_text(entry, "ttft_ms"), ms_text(entry, "total_ms"),
               rate ? fmt::format("{:.1f}", *rate) : std::string{kNothing}, why_text(entry)});
  }
  append(lines, table.empty() ? Lines{style.paint(Paint::kDim, "none yet")}
                              : lines_of(table.render(style)));
  return lines;
}

// ---- the whole ----

// Takes lines from the longest parts until all fit, and says how many it took.
void fit(std::vector<Lines>& parts, std::size_t room, const OutputStyle& style) {
  std::vector<std::size_t> lengths;
  std::size_t all = 0;
  for (const Lines& part : parts) {
    lengths.push_back(part.size());
    all += part.size();
  }
  while (all > room) {
    const auto longest = std::ranges::max_element(lengths);
    if (*longest <= kLeast) break;
    --*longest;
    --all;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (lengths[i] == parts[i].size()) continue;
    const std::size_t left_out = parts[i].size() - lengths[i] + 1;
    parts[i].resize(lengths[i] - 1);
    parts[i].push_back(style.paint(Paint::kDim, fmt::format("and {} lines more", left_out)));
  }
}

}  // namespace

std::vector<std::string> top_frame(const TopState& state, const TopMoment& moment, std::size_t rows,
                                   const OutputStyle& style) {
  Lines frame = head(state, moment, style);
  std::vector<Lines> parts{models_part(state, moment.wall_us, style),
                           under_way_part(state, moment.now, style),
                           replies_part(state, moment.wall_us, style)};
  const std::size_t taken = frame.size() + parts.size();
  if (rows > 0) fit(parts, rows > taken ? rows - taken : 0, style);
  for (Lines& part : parts) {
    frame.emplace_back();
    append(frame, std::move(part));
  }
  if (rows > 0 && frame.size() > rows) frame.resize(rows);
  return frame;
}

boost::json::object top_json(const TopState& state, const TopMoment& moment) {
  const Today today = today_of(state, moment);
  Object waited{{"requests", today.replies}, {"ms", today.all_ms}, {"cold_ms", today.cold_ms}};
  Object parts;
  for (std::size_t i = 0; i < kWaitParts.size(); ++i) parts[kWaitParts[i]] = today.split[i];
  waited["parts_ms"] = std::move(parts);
  boost::json::array running;
  for (const TopState::UnderWay& one : state.under_way) {
    boost::json::array stages;
    for (const TopState::Stage& stage : one.stages) {
      Object told{{"name", stage.name}, {"start_ms", stage.start_ms}};
      if (stage.ms) told["ms"] = *stage.ms;
      stages.push_back(std::move(told));
    }
    running.push_back(Object{{"request_id", one.id},
                             {"model", one.model},
                             {"path", one.path},
                             {"elapsed_ms", milliseconds_of(moment.now - one.since)},
                             {"stages", std::move(stages)}});
  }
  return {{"version", state.version},
          {"memory", state.memory},
          {"models", state.models},
          {"running", std::move(running)},
          {"recent", boost::json::array(state.recent.begin(), state.recent.end())},
          {"waited_today", std::move(waited)}};
}

}  // namespace hearth::cli

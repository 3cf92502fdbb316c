// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

constexpr std::size_t kBarCells = 24;

std::string bar_of(double fraction, const OutputStyle& style) {
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(clamped * kBarCells + 0.5);
  std::string bar;
  for (std::size_t i = 0; i < kBarCells; ++i) {
    if (style.unicode) {
      bar += i < full ? "█" : "░";
    } else {
      bar += i < full ? '#' : '-';
    }
  }
  return style.unicode ? bar : "[" + bar + "]";
}

// There is nothing to fill a bar with.
std::string queue_line(const ProgressNote& note, const OutputStyle& style) {
  std::string line = pad_right(one_line(note.stage), 8);
  line += *note.ahead < 1 ? "  next" : fmt::format("  {:.0f} before", *note.ahead);
  if (note.eta_ms) line += "  " + format_milliseconds(*note.eta_ms) + " left at least";
  return clip(line, style.width - 1);
}

}  // namespace

ProgressNote progress_note(const boost::json::object& progress) {
  const double rate = number_in(progress, "bytes_per_s").value_or(0);
  return {.stage = text_in(progress, "stage"),
          .fraction = number_in(progress, "fraction").value_or(0),
          .done = bytes_in(progress, "done_bytes"),
          .total = bytes_in(progress, "total_bytes"),
          .per_second = Bytes{static_cast<std::uint64_t>(std::max(0.0, rate))},
          .eta_ms = number_in(progress, "eta_ms"),
          .ahead = number_in(progress, "ahead")};
}

std::string progress_line(const ProgressNote& note, const OutputStyle& style) {
  if (note.ahead) return queue_line(note, style);
  std::string line = fmt::format("{}  {}  {:>4}", pad_right(one_line(note.stage), 8),
                                 bar_of(note.fraction, style), format_percent(note.fraction));
  if (note.total > Bytes{}) {
    line += fmt::format("  {} of {}", format_bytes(note.done), format_bytes(note.total));
  }
  if (note.per_second > Bytes{}) line += fmt::format("  {}/s", format_bytes(note.per_second));
  if (note.eta_ms) line += "  " + format_milliseconds(*note.eta_ms) + " left";
  return clip(line, style.width - 1);
}

void ProgressBar::update(const ProgressNote& note) {
  if (!style_.terminal) return;
  fmt::print(out_, "\r\033[K{}", progress_line(note, style_));
  std::fflush(out_);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(out_, "\r\033[K");
  std::fflush(out_);
  drawn_ = false;
}

}  // namespace hearth::cli

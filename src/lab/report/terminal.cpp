// SPDX-License-Identifier: Apache-2.0
#include "lab/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "lab/report/figures.h"

namespace hearth::lab {
namespace {

constexpr std::size_t kSideCells = 16, kFigureCells = 34, kMostBarCells = 60;

// Without control characters, and without the bytes that are no text.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : repair_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_c1 = byte >= 0x80 && byte < 0xA0 && out.ends_with('\xC2');
    if (is_c1) out.pop_back();
    if (byte >= 0x20 && byte != 0x7F && !is_c1) out += c;
  }
  return out;
}

std::size_t cells_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(std::string text, std::size_t cells) {
  const std::size_t has = cells_of(text);
  return has < cells ? text + std::string(cells - has, ' ') : text;
}

std::string painted(const TextLook& look, const char* code, const std::string& text) {
  return look.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string bar(double share, std::size_t cells, const TextLook& look) {
  constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::max(1.0, std::round(share * static_cast<double>(cells * 8))));
  std::string out;
  if (!look.unicode) {
    out.assign(std::max<std::size_t>(1, (eighths + 4) / 8), '#');
    return padded(out, cells);
  }
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return padded(out + kEighths[eighths % 8], cells);
}

std::string interval_text(const Interval& interval, const TextLook& look) {
  if (interval.count < 2) return milliseconds_text(interval.middle);
  const char* to = look.unicode ? "–" : " to ";
  return fmt::format("{} ({}{}{}{})", milliseconds_text(interval.middle),
                     interval.is_range() ? "range " : "", milliseconds_text(interval.low), to,
                     milliseconds_text(interval.high));
}

std::string counts_text(const Cell& cell) {
  std::string text = fmt::format("n={}", cell.counted);
  if (cell.flagged > 0) text += fmt::format(", {} flagged", cell.flagged);
  if (cell.failed > 0) text += fmt::format(", {} failed", cell.failed);
  return text;
}

std::string ratio_text(const Summary& summary, const Cell& cell, const TextLook& look) {
  const Ratio* ratio = summary.ratio(cell.side, cell.arm);
  if (ratio == nullptr || ratio->ratio.middle <= 0) return {};
  const char* times = look.unicode ? "×" : "x";
  return fmt::format("  {:.2f}{} {}", 1 / ratio->ratio.middle, times, plain(ratio->side));
}

std::string cell_line(const Summary& summary, const Cell& cell, double most, const TextLook& look) {
  const Interval* wait = cell.figure("wait_ms");
  const std::string head = "  " + padded(plain(cell.side), kSideCells);
  if (wait == nullptr) return head + painted(look, "2", counts_text(cell)) + "\n";
  const std::size_t taken = kSideCells + kFigureCells + 26;
  const std::size_t cells =
      look.width > taken + 10 ? std::min(look.width - taken, kMostBarCells) : 10;
  const std::string drawn = bar(most > 0 ? wait->middle / most : 0, cells, look);
  const bool is_first = cell.side == summary.sides.front();
  std::string line = head + painted(look, is_first ? "33" : "34", drawn) + ' ' +
                     padded(interval_text(*wait, look), kFigureCells);
  line += painted(look, "2", counts_text(cell)) + ratio_text(summary, cell, look);
  return line + "\n";
}

double longest_wait(const Summary& summary) {
  double most = 0;
  for (const Cell& cell : summary.cells) {
    const Interval* wait = cell.figure("wait_ms");
    if (wait != nullptr) most = std::max(most, wait->middle);
  }
  return most;
}

std::string mixture_lines(const Summary& summary) {
  std::string text;
  for (const MixHeadline& mixture : summary.mixtures) {
    const char* at_least = mixture.failed > 0 ? "at least " : "";
    text += plain(mixture.side) + ": ";
    text += mixture.seconds_a_day
                ? fmt::format("{:.1f} s a day waited beyond warm repeats", *mixture.seconds_a_day)
                : "seconds a day cannot be told (" + plain(mixture.not_told) + ")";
    text +=
        fmt::format("; p50 {}, p95 {}{}, p99 {}{}", milliseconds_text(mixture.p50_ms), at_least,
                    milliseconds_text(mixture.p95_ms), at_least, milliseconds_text(mixture.p99_ms));
    if (mixture.repeat_ms) {
      text += fmt::format(" (an immediate repeat: {})", milliseconds_text(*mixture.repeat_ms));
    }
    text += '\n';
    const std::string missing = missing_text(mixture);
    if (!missing.empty()) text += "  " + missing + '\n';
  }
  return text;
}

std::string worth_lines(const Summary& summary) {
  std::string text;
  for (const Additivity& worth : summary.worths) {
    text += plain(sentence_of(worth)) + "\n";
    for (const Additivity::Saving& saving : worth.savings) {
      text += "  " + padded(plain(saving.layer), kSideCells);
      if (saving.lost_ms) {
        text += padded("lost alone costs " + milliseconds_text(*saving.lost_ms), kFigureCells);
      }
      if (saving.kept_ms) text += "kept alone saves " + milliseconds_text(*saving.kept_ms);
      text += '\n';
    }
  }
  return text;
}

std::string forecast_lines(const Summary& summary) {
  std::string text;
  for (const IdleForecast& forecast : summary.forecasts) {
    text += fmt::format("{}, {}: foretold {}, waited {}: {:+.0f} %\n", plain(forecast.side),
                        plain(forecast.pause), milliseconds_text(forecast.foretold_ms->middle),
                        milliseconds_text(forecast.real_ms->middle), 100 * *forecast.error());
  }
  return text;
}

std::string cell_tabs(const Summary& summary, const Cell& cell) {
  const Interval wait = cell.figure("wait_ms") ? *cell.figure("wait_ms") : Interval{};
  const Ratio* ratio = summary.ratio(cell.side, cell.arm);
  return fmt::format("{}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{}\t{}\t{}\t{}\t{}\n", plain(cell.arm),
                     plain(cell.side), wait.middle, wait.low, wait.high, cell.counted, cell.flagged,
                     cell.failed, ratio ? fmt::format("{:.4f}", ratio->ratio.middle) : "",
                     wait.count > 0 ? wait.kind() : "");
}

std::string notes(const RunInfo& info, const Summary& summary) {
  std::string text;
  for (const auto& [what, why] : info.left_out) {
    text += "left out: " + plain(what) + ": " + plain(why) + "\n";
  }
  if (!summary.left_out.empty()) {
    text += fmt::format("rows that do not count: {} (they are in the report, with reasons)\n",
                        summary.left_out.size());
  }
  for (const std::string& what : info.not_observable) {
    text += "not observable: " + plain(what) + "\n";
  }
  return text;
}

const char* colour_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kSlower:
      return "31";
    case ChangeVerdict::kFaster:
      return "32";
    default:
      return "2";
  }
}

std::string change_line(const Change& change, const TextLook& look) {
  const std::string word{name_of(change.verdict)};
  if (!look.terminal) {
    return fmt::format("{}\t{}\t{}\t{:.3f}\t{:.3f}\t{:.4f}\t{:.4f}\t{:.4f}\n", plain(change.arm),
                       plain(change.side), word, change.before_ms.middle, change.after_ms.middle,
                       change.change.middle, change.change.low, change.change.high);
  }
  const std::string name = plain(change.arm) + ", " + plain(change.side);
  const char* arrow = look.unicode ? "→" : "->";
  const char* times = look.unicode ? "×" : "x";
  return painted(look, colour_of(change.verdict), padded(word, 28)) + padded(name, 36) +
         fmt::format(" {} {} {}  {}{:.2f} ({}{:.2f} to {:.2f})\n",
                     milliseconds_text(change.before_ms.middle), arrow,
                     milliseconds_text(change.after_ms.middle), times, change.change.middle,
                     change.change.is_range() ? "range " : "", change.change.low,
                     change.change.high);
}

std::string conclusion(const Comparison& comparison) {
  const auto slower =
      std::ranges::count(comparison.changes, ChangeVerdict::kSlower, &Change::verdict);
  const auto faster =
      std::ranges::count(comparison.changes, ChangeVerdict::kFaster, &Change::verdict);
  if (comparison.changes.empty()) return "NOTHING IN COMMON: nothing was compared\n";
  return fmt::format("{}: {} slower, {} faster, of {} compared\n",
                     slower > 0 ? "REGRESSION" : "no regression", slower, faster,
                     comparison.changes.size());
}

}  // namespace

std::string terminal_text(const RunInfo& info, const Summary& summary, const TextLook& look) {
  std::string text;
  if (!look.terminal) {
    text = "arm\tside\twait_ms\tlow\thigh\tn\tflagged\tfailed\tratio\tlow_to_high\n";
    for (const Cell& cell : summary.cells) text += cell_tabs(summary, cell);
    return text;
  }
  text = painted(look, "1", plain(info.study)) + ", " + plain(info.model) +
         ": the wait for the first token, median and its 95 % interval; of fewer than 6 their range"
         "\n";
  const double most = longest_wait(summary);
  const std::string* arm = nullptr;
  for (const Cell& cell : summary.cells) {
    if (arm == nullptr || cell.arm != *arm) text += painted(look, "1", plain(cell.arm)) + "\n";
    arm = &cell.arm;
    text += cell_line(summary, cell, most, look);
  }
  if (summary.cells.empty()) text += "no rows yet\n";
  return text + mixture_lines(summary) + worth_lines(summary) + forecast_lines(summary) +
         painted(look, "2", notes(info, summary));
}

std::string terminal_text(const Comparison& comparison, const TextLook& look) {
  std::string text;
  if (!look.terminal) text = "arm\tside\tverdict\tbefore_ms\tafter_ms\tchange\tlow\thigh\n";
  for (const Change& change : comparison.changes) text += change_line(change, look);
  if (!look.terminal) return text;
  for (const std::string& name : comparison.only_before) {
    text += "only before: " + plain(name) + "\n";
  }
  for (const std::string& name : comparison.only_after) text += "only after: " + plain(name) + "\n";
  for (const std::string& caution : comparison.cautions) text += "note: " + plain(caution) + "\n";
  return text + conclusion(comparison);
}

}  // namespace hearth::lab

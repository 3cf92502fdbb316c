// SPDX-License-Identifier: Apache-2.0
#include "lab/report/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "lab/report/figures.h"

namespace hearth::lab {
namespace {

using RowIndexes = std::vector<std::size_t>;

template <class T>
bool has(const std::vector<T>& list, const T& item) {
  return std::ranges::find(list, item) != list.end();
}

std::vector<std::string> sides_of(const std::vector<Trial>& rows) {
  std::set<std::string> names;
  for (const Trial& row : rows) names.insert(row.side);
  std::vector<std::string> sides{names.begin(), names.end()};
  std::ranges::stable_partition(sides, [](const auto& name) { return name.starts_with("hearth"); });
  return sides;
}

// As the run lists them, then what it does not list, as it came. Without what has no row.
std::vector<std::string> arms_of(const RunInfo& info, const std::vector<Trial>& rows) {
  std::vector<std::string> seen;
  for (const Trial& row : rows) {
    if (!has(seen, row.arm)) seen.push_back(row.arm);
  }
  std::vector<std::string> arms;
  for (const std::string& arm : info.arms) {
    if (has(seen, arm) && !has(arms, arm)) arms.push_back(arm);
  }
  for (const std::string& arm : seen) {
    if (!has(arms, arm)) arms.push_back(arm);
  }
  return arms;
}

// The row whose wait lies nearest to the middle one.
std::optional<std::size_t> typical_of(const std::vector<Trial>& rows, const RowIndexes& counting,
                                      const Cell& cell) {
  const Interval* wait = cell.figure("wait_ms");
  if (wait == nullptr) return std::nullopt;
  std::optional<std::size_t> nearest;
  double least = 0;
  for (const std::size_t i : counting) {
    const auto waited = rows[i].timing.wait_ms();
    if (!waited) continue;
    const double off = std::abs(*waited - wait->middle);
    if (nearest && off >= least) continue;
    nearest = i;
    least = off;
  }
  return nearest;
}

std::map<std::string, Interval> stages_of(const std::vector<Trial>& rows,
                                          const RowIndexes& counting) {
  std::map<std::string, std::vector<double>> values;
  for (const std::size_t i : counting) {
    for (const auto& [stage, ms] : rows[i].timing.stages_ms) values[stage].push_back(ms);
  }
  std::map<std::string, Interval> stages;
  for (const auto& [stage, list] : values) stages[stage] = *median_interval(list);
  return stages;
}

std::map<std::string, Interval> figures_of(const std::vector<Trial>& rows,
                                           const RowIndexes& counting) {
  std::map<std::string, Interval> figures;
  for (const Figure& figure : all_figures()) {
    std::vector<double> values;
    for (const std::size_t i : counting) {
      if (const auto value = figure.read(rows[i])) values.push_back(*value);
    }
    if (const auto interval = median_interval(values)) figures[figure.name] = *interval;
  }
  return figures;
}

auto words_of(const std::vector<Trial>& rows, const RowIndexes& counting) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (const std::size_t i : counting) {
    for (const auto& [name, word] : proof_words(rows[i])) ++counts[name][word];
  }
  decltype(Cell::words) words;
  for (const auto& [name, by_word] : counts) {
    auto& list = words[name];
    list.assign(by_word.begin(), by_word.end());
    std::ranges::stable_sort(list, std::greater{}, [](const auto& each) { return each.second; });
  }
  return words;
}

Cell cell_of(const std::vector<Trial>& rows, const RowIndexes& all) {
  Cell cell;
  RowIndexes counting;
  for (const std::size_t i : all) {
    if (!rows[i].failure.empty()) ++cell.failed;
    if (rows[i].failure.empty() && !rows[i].flags.empty()) ++cell.flagged;
    if (!rows[i].counts()) continue;
    counting.push_back(i);
    if (const auto wait = rows[i].timing.wait_ms()) cell.waits_ms.push_back(*wait);
  }
  cell.counted = static_cast<int>(counting.size());
  cell.figures = figures_of(rows, counting);
  cell.stages_ms = stages_of(rows, counting);
  cell.words = words_of(rows, counting);
  cell.typical = typical_of(rows, counting, cell);
  if (cell.typical) {
    cell.verdict_text = rows[*cell.typical].verdict_text;
    cell.verdict_code = rows[*cell.typical].verdict_code;
  }
  return cell;
}

void add_cells(Summary& summary, const std::vector<Trial>& rows) {
  std::map<std::pair<std::string, std::string>, RowIndexes> by_cell;
  for (std::size_t i = 0; i < rows.size(); ++i) by_cell[{rows[i].arm, rows[i].side}].push_back(i);
  for (const std::string& arm : summary.arms) {
    for (const std::string& side : summary.sides) {
      const auto found = by_cell.find({arm, side});
      if (found == by_cell.end()) continue;
      Cell cell = cell_of(rows, found->second);
      cell.side = side;
      cell.arm = arm;
      summary.cells.push_back(std::move(cell));
    }
  }
}

// Block and repetition -> wait.
using Blocks = std::map<std::pair<int, int>, double>;

Blocks blocks_of(const std::vector<Trial>& rows, const std::string& side, const std::string& arm) {
  Blocks blocks;
  for (const Trial& row : rows) {
    if (row.side != side || row.arm != arm || !row.counts()) continue;
    if (const auto wait = row.timing.wait_ms()) blocks[{row.block, row.repetition}] = *wait;
  }
  return blocks;
}

std::optional<Interval> paired(const Blocks& ours, const Blocks& theirs) {
  std::vector<double> left, right;
  for (const auto& [block, wait] : ours) {
    const auto other = theirs.find(block);
    if (other == theirs.end()) continue;
    left.push_back(wait);
    right.push_back(other->second);
  }
  return ratio_interval(left, right);
}

void add_ratios(Summary& summary, const std::vector<Trial>& rows) {
  for (const std::string& arm : summary.arms) {
    const Blocks ours = blocks_of(rows, summary.sides.front(), arm);
    for (std::size_t i = 1; i < summary.sides.size(); ++i) {
      const auto ratio = paired(ours, blocks_of(rows, summary.sides[i], arm));
      if (ratio) summary.ratios.push_back({summary.sides.front(), summary.sides[i], arm, *ratio});
    }
  }
}

constexpr std::array<const char*, 3> kVaried{"gap_s", "prompt_length", "storage_mb_s"};

std::optional<double> varied(const std::vector<Trial>& rows, const Cell& cell, const char* what) {
  for (const Trial& row : rows) {
    if (row.side != cell.side || row.arm != cell.arm) continue;
    const auto found = row.extra.find(what);
    if (found != row.extra.end()) return found->second;
  }
  return std::nullopt;
}

Curve& curve_of(std::vector<Curve>& curves, const std::string& side, const std::string& series) {
  for (Curve& curve : curves) {
    if (curve.side == side && curve.series == series) return curve;
  }
  return curves.emplace_back(Curve{side, series, {}});
}

void add_curves(Summary& summary, const std::vector<Trial>& rows) {
  for (const char* what : kVaried) {
    std::vector<Curve> curves;
    for (const Cell& cell : summary.cells) {
      const Interval* wait = cell.figure("wait_ms");
      const auto at = varied(rows, cell, what);
      if (!at || wait == nullptr) continue;
      const std::size_t comma = cell.arm.find(", ");
      const std::string series = comma == std::string::npos ? "" : cell.arm.substr(comma + 2);
      curve_of(curves, cell.side, series).points.push_back({*at, cell.arm.substr(0, comma), *wait});
    }
    for (Curve& curve : curves) std::ranges::stable_sort(curve.points, {}, &Curve::Point::at);
    if (!curves.empty()) summary.curves[what] = std::move(curves);
  }
}

std::string reason_of(const Trial& row) {
  if (!row.failure.empty()) return row.failure;
  std::string why;
  for (const std::string& flag : row.flags) why += (why.empty() ? "" : "; ") + flag;
  return why;
}

}  // namespace

const Interval* Cell::figure(const std::string& name) const {
  const auto found = figures.find(name);
  return found == figures.end() ? nullptr : &found->second;
}

const Cell* Summary::cell(const std::string& side, const std::string& arm) const {
  for (const Cell& each : cells) {
    if (each.side == side && each.arm == arm) return &each;
  }
  return nullptr;
}

const Ratio* Summary::ratio(const std::string& other, const std::string& arm) const {
  for (const Ratio& each : ratios) {
    if (each.other == other && each.arm == arm) return &each;
  }
  return nullptr;
}

Summary summarise(const RunInfo& info, const std::vector<Trial>& rows) {
  Summary summary;
  if (rows.empty()) return summary;
  summary.sides = sides_of(rows);
  summary.arms = arms_of(info, rows);
  add_cells(summary, rows);
  add_ratios(summary, rows);
  add_curves(summary, rows);
  summary.worths = additivity(rows);
  summary.mixtures = mix_headlines(rows);
  summary.forecasts = idle_forecasts(rows);
  std::erase_if(summary.forecasts, [](const IdleForecast& each) { return !each.error(); });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].counts()) summary.left_out.push_back({i, reason_of(rows[i])});
  }
  return summary;
}

std::string layer_of_stage(const std::string& stage) {
  static const std::map<std::string, std::string> kLayers{
      {"queue", "queue"},     {"untold", "untold"},    {"read", "pages"},
      {"start", "weights"},   {"spawn", "weights"},    {"load", "weights"},
      {"context", "weights"}, {"compile", "compiled"}, {"tokenize", "prompt"},
      {"restore", "prefix"},  {"prefill", "prompt"},   {"first_decode", "decode"},
      {"decode", "decode"}};
  if (stage.starts_with("artifact.")) return "artifact";
  const auto found = kLayers.find(stage);
  return found == kLayers.end() ? "other" : found->second;
}

}  // namespace hearth::lab

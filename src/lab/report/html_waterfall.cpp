// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lab/report/figures.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"
#include "lab/report/plot.h"
#include "lab/report/stage_bars.h"

namespace hearth::lab {
namespace {

constexpr double kLane = 13, kSingle = 14;

double end_of(const Trial& row) {
  const double start = row.timing.start_ms.value_or(0);
  double end = std::max(row.timing.wait_ms().value_or(0), start + row.timing.total_ms);
  for (const StageBar& bar : stage_bars(row).bars) {
    end = std::max(end, bar.from_ms + bar.length_ms);
  }
  return end;
}

std::string bar_rect(const StageBar& bar, const Scale& scale, double top, double height) {
  const double left = scale.at(bar.from_ms);
  // What is there at all can be seen.
  const double width = std::max(0.25, scale.at(bar.from_ms + bar.length_ms) - left);
  const std::string title =
      fmt::format("{}: {} from {}", escaped(bar.name), milliseconds_text(bar.length_ms),
                  milliseconds_text(bar.from_ms));
  return svg::rect("fill " + layer_of_stage(bar.name), {left, width, top, height}, title);
}

std::string first_token_line(const Trial& row, const Scale& scale, double height) {
  const auto wait = row.timing.wait_ms();
  if (!wait) return {};
  return svg::line("token", {scale.at(*wait), 0}, {scale.at(*wait), height});
}

std::string overview(const Trial& row, const StageBars& stages, const Scale& scale) {
  const std::vector<int> lanes = lanes_of(stages.bars);
  const int last = lanes.empty() ? 0 : std::ranges::max(lanes);
  const double height = kLane * (last + 1) + 4;
  std::string content = svg::grid(scale, height);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    content += bar_rect(stages.bars[i], scale, 2 + kLane * lanes[i], kLane - 2);
  }
  content += first_token_line(row, scale, height);
  return svg::picture(height, "stages of the reply", content);
}

std::string one_by_one(const StageBars& stages, const Scale& scale) {
  std::string rows;
  for (const StageBar& bar : stages.bars) {
    const std::string content = svg::grid(scale, kSingle) + bar_rect(bar, scale, 2, kSingle - 4);
    rows += plot_row({"sub", escaped(bar.name), svg::picture(kSingle, escaped(bar.name), content),
                      milliseconds_text(bar.length_ms)});
  }
  if (rows.empty()) return {};
  const char* note =
      stages.told_when ? "" : "<p class=\"about\">It tells how long they took, not when.</p>";
  return fmt::format("<details><summary>stage by stage</summary>{}{}</details>\n", note, rows);
}

std::string overlap_text(const Trial& row) {
  std::string text = "first token " + milliseconds_text(row.timing.wait_ms().value_or(0));
  const Timing& timing = row.timing;
  if (timing.overlap_ms && *timing.overlap_ms >= 0.05) {
    text += "<small>" + milliseconds_text(*timing.overlap_ms) + " of it side by side</small>";
  }
  return text;
}

std::string arm_html(const PageContent& page, const std::string& arm) {
  std::vector<const Trial*> typical;
  double most = 0;
  for (const Cell& cell : page.summary.cells) {
    if (cell.arm != arm || !cell.typical) continue;
    typical.push_back(&page.rows[*cell.typical]);
    most = std::max(most, end_of(*typical.back()));
  }
  if (typical.empty()) return {};
  const Scale scale = Scale::linear(most);
  std::string out = "<article><h3>" + escaped(arm) + "</h3>\n";
  for (const Trial* row : typical) {
    const StageBars stages = stage_bars(*row);
    out += plot_row({page.colour(row->side), escaped(row->side), overview(*row, stages, scale),
                     overlap_text(*row)});
    out += one_by_one(stages, scale);
  }
  return out + axis_row(svg::axis(scale)) + "</article>\n";
}

}  // namespace

std::string waterfall_section(const PageContent& page) {
  std::string arms;
  for (const std::string& arm : page.summary.arms) arms += arm_html(page, arm);
  if (arms.empty()) return {};
  std::vector<LegendEntry> layers;
  for (const char* layer : {"queue", "artifact", "pages", "weights", "compiled", "prefix", "prompt",
                            "decode", "other", "untold"}) {
    layers.push_back({std::string{"fill "} + layer, layer});
  }
  return section(
      "stages", "Where the time goes",
      "<p class=\"dim\">The reply whose wait is the median one, by the layer that each "
      "stage works for. The dashed line is the first token; bars in two lanes ran at the "
      "same time, so that their sum is more than the wait.</p>\n" +
          legend(layers) + arms);
}

}  // namespace hearth::lab

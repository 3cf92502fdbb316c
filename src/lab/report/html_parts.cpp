// SPDX-License-Identifier: Apache-2.0
#include "lab/report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/report/figures.h"

namespace hearth::lab {
namespace {

constexpr std::size_t kColours = 6;

}  // namespace

std::string PageContent::colour(const std::string& side) const {
  const auto found = std::ranges::find(summary.sides, side);
  const auto index = static_cast<std::size_t>(found - summary.sides.begin());
  return fmt::format("c{}", index % kColours);
}

std::string section(const std::string& id, const std::string& heading, const std::string& content) {
  if (content.empty()) return {};
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, heading, content);
}

std::string plot_row(const PlotRow& row) {
  return fmt::format(
      "<div class=\"row {}\"><span class=\"who\">{}</span>{}<span class=\"val\">{}</span></div>\n",
      row.colour, row.name, row.picture, row.figures);
}

std::string axis_row(const std::string& axis) { return plot_row({"axis", "", axis, ""}); }

std::string legend(const std::vector<LegendEntry>& entries) {
  std::string out = "<div class=\"legend\">";
  for (const LegendEntry& entry : entries) {
    out += fmt::format(
        "<span><svg width=\"14\" height=\"12\" aria-hidden=\"true\"><rect class=\"{}\" x=\"1\" "
        "y=\"1\" width=\"12\" height=\"10\"/></svg>{}</span>",
        entry.kind, entry.name);
  }
  return out + "</div>\n";
}

std::string interval_html(const Interval& interval) {
  if (interval.count < 2) return milliseconds_text(interval.middle);
  return fmt::format("{}<small>{}{} to {}</small>", milliseconds_text(interval.middle),
                     interval.is_range() ? "range " : "", milliseconds_text(interval.low),
                     milliseconds_text(interval.high));
}

}  // namespace hearth::lab

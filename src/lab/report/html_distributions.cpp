// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/report/figures.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"
#include "lab/report/plot.h"

namespace hearth::lab {
namespace {

constexpr double kHeight = 34, kMiddle = kHeight / 2, kSpread = 9;

// Dots of one strip are moved up and down so that equal ones can be told apart, the same way in
// every report of the same rows.
double lifted(std::size_t nth) {
  constexpr double kGolden = 0.6180339887;
  const double turn = static_cast<double>(nth) * kGolden;
  return kMiddle + (turn - static_cast<double>(static_cast<std::size_t>(turn)) - 0.5) * 2 * kSpread;
}

std::string why_of(const Trial& row) {
  std::string why;
  for (const std::string& flag : row.flags) why += " – " + flag;
  return why;
}

// One dot a row; hollow where it does not count.
std::string dots(const PageContent& page, const Cell& cell, const Scale& scale) {
  std::string out;
  std::size_t nth = 0;
  for (const Trial& row : page.rows) {
    if (row.side != cell.side || row.arm != cell.arm) continue;
    const auto wait = row.timing.wait_ms();
    if (!wait || !row.failure.empty()) continue;
    out += svg::dot(row.counts() ? "dot" : "hollow", {scale.at(*wait), lifted(nth++)}, 3.2,
                    escaped(milliseconds_text(*wait) + why_of(row)));
  }
  return out;
}

std::string strip(const PageContent& page, const Cell& cell, const Scale& scale) {
  std::string content = svg::grid(scale, kHeight);
  if (cell.waits_ms.size() >= 3) {
    const double low = scale.at(*quantile(cell.waits_ms, 0.25));
    const double high = scale.at(*quantile(cell.waits_ms, 0.75));
    content += svg::rect("box", {low, high - low, 3, kHeight - 6}, "the middle half");
  }
  content += dots(page, cell, scale);
  const Interval* wait = cell.figure("wait_ms");
  if (wait != nullptr) {
    const double y = kHeight - 3;
    content += svg::line("span", {scale.at(wait->low), y}, {scale.at(wait->high), y});
    content += svg::line("mid", {scale.at(wait->middle), 1}, {scale.at(wait->middle), kHeight});
  }
  const std::string label = escaped(cell.side + " in " + cell.arm);
  return svg::picture(kHeight, label, content);
}

std::string ratio_html(const PageContent& page, const Cell& cell) {
  const Ratio* ratio = page.summary.ratio(cell.side, cell.arm);
  if (ratio == nullptr || ratio->ratio.low <= 0) return {};
  return fmt::format("<small>{:.2f} × {} ({}{:.2f} to {:.2f})</small>", 1 / ratio->ratio.middle,
                     escaped(ratio->side), ratio->ratio.is_range() ? "range " : "",
                     1 / ratio->ratio.high, 1 / ratio->ratio.low);
}

std::string figures_html(const PageContent& page, const Cell& cell) {
  std::string counts = fmt::format("n = {}", cell.counted);
  if (cell.flagged > 0) counts += fmt::format(", {} flagged", cell.flagged);
  if (cell.failed > 0) counts += fmt::format(", <span class=\"bad\">{} failed</span>", cell.failed);
  const Interval* wait = cell.figure("wait_ms");
  if (wait == nullptr) return "–<small>" + counts + "</small>";
  if (wait->count >= 2) {
    counts = fmt::format("{}{} to {}, {}", wait->is_range() ? "range " : "",
                         milliseconds_text(wait->low), milliseconds_text(wait->high), counts);
  }
  return fmt::format("<b>{}</b><small>{}</small>{}", milliseconds_text(wait->middle), counts,
                     ratio_html(page, cell));
}

std::string about_of(const PageContent& page, const std::string& arm) {
  const auto found = page.info.about.find(arm);
  if (found == page.info.about.end() || found->second.empty()) return {};
  return "<p class=\"about\">" + escaped(found->second) + "</p>\n";
}

std::string arm_html(const PageContent& page, const std::string& arm, const Scale& scale) {
  std::string rows, why;
  for (const Cell& cell : page.summary.cells) {
    if (cell.arm != arm) continue;
    rows += plot_row({page.colour(cell.side), escaped(cell.side), strip(page, cell, scale),
                      figures_html(page, cell)});
    if (cell.verdict_text.empty()) continue;
    why += fmt::format("<p class=\"why\">{} says: {}</p>\n", escaped(cell.side),
                       escaped(cell.verdict_text));
  }
  return "<article><h3>" + escaped(arm) + "</h3>\n" + about_of(page, arm) + rows +
         axis_row(svg::axis(scale)) + why + "</article>\n";
}

}  // namespace

std::string distribution_section(const PageContent& page) {
  std::vector<double> waits;
  for (const Trial& row : page.rows) {
    const auto wait = row.timing.wait_ms();
    if (wait && row.failure.empty()) waits.push_back(*wait);
  }
  if (waits.empty()) return {};
  const Scale scale = Scale::over(waits);
  std::string content = fmt::format(
      "<p class=\"dim\">How long a person waits for the first token. A dot is a request; a hollow "
      "one does not count, and says why when pointed at. Shaded: the middle half. Upright line: "
      "the "
      "median; thick line below it: its 95 % interval, or the range of fewer than 6.{}</p>\n",
      scale.is_logarithmic() ? " The scale is in powers of ten." : "");
  for (const std::string& arm : page.summary.arms) content += arm_html(page, arm, scale);
  return section("states", "What each state costs", content);
}

}  // namespace hearth::lab

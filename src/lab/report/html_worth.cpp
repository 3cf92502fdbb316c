// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lab/report/figures.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"
#include "lab/report/plot.h"

namespace hearth::lab {
namespace {

constexpr double kHeight = 30;

double most_of(const Summary& summary) {
  double most = 0;
  for (const Additivity& worth : summary.worths) {
    most = std::max(most, worth.cold_ms - worth.warm_ms);
    for (const Additivity::Saving& saving : worth.savings) {
      most = std::max({most, saving.lost_ms.value_or(0), saving.kept_ms.value_or(0)});
    }
  }
  return most;
}

std::string bars(const Additivity::Saving& saving, const Scale& scale) {
  std::string content = svg::grid(scale, kHeight);
  const double lost = saving.lost_ms.value_or(0);
  const double kept = saving.kept_ms.value_or(0);
  content += svg::rect("fill", {0, scale.at(lost), 3, 11}, "lost alone");
  content += svg::rect("pale", {0, scale.at(kept), 16, 11}, "kept alone");
  return svg::picture(kHeight, escaped(saving.layer), content);
}

std::string figures(const Additivity::Saving& saving) {
  const auto text = [](const std::optional<double>& ms) {
    return ms ? milliseconds_text(*ms) : std::string{"–"};
  };
  return fmt::format("{}<small>kept alone: {}</small>", text(saving.lost_ms), text(saving.kept_ms));
}

std::string side_html(const PageContent& page, const Additivity& worth, const Scale& scale) {
  const std::string colour = page.colour(worth.side);
  std::string rows;
  for (const Additivity::Saving& saving : worth.savings) {
    rows += plot_row({colour, escaped(saving.layer), bars(saving, scale), figures(saving)});
  }
  const double whole = worth.cold_ms - worth.warm_ms;
  const std::string all =
      svg::grid(scale, 18) + svg::rect("fill other", {0, scale.at(whole), 3, 11}, "all together");
  rows += plot_row(
      {"", "all together", svg::picture(18, "all together", all), milliseconds_text(whole)});
  return "<article><h3 class=\"ink " + colour + "\">" + escaped(worth.side) + "</h3>\n" + rows +
         axis_row(svg::axis(scale)) + "<p class=\"why\">" + escaped(sentence_of(worth)) +
         "</p></article>\n";
}

}  // namespace

std::string worth_section(const PageContent& page) {
  if (page.summary.worths.empty()) return {};
  const Scale scale = Scale::linear(most_of(page.summary));
  std::string content =
      "<p class=\"dim\">One layer at a time: what its loss costs when all else is warm (full bar), "
      "and what it saves when all else is cold (pale bar).</p>\n";
  for (const Additivity& worth : page.summary.worths) content += side_html(page, worth, scale);
  return section("layers", "What each layer is worth", content);
}

}  // namespace hearth::lab

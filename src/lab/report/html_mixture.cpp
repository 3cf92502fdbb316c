// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lab/report/figures.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"
#include "lab/report/plot.h"

namespace hearth::lab {
namespace {

constexpr std::array<const char*, 6> kLayers{"artifact", "pages",  "weights",
                                             "compiled", "prefix", "prompt"};
constexpr double kHeight = 30;
constexpr int kEnoughForP95 = 30, kEnoughForP99 = 100;

std::string stacked(const MixHeadline& mixture, const Scale& scale) {
  std::string content = svg::grid(scale, kHeight);
  double before = 0;
  for (const char* layer : kLayers) {
    const auto found = mixture.seconds_a_day_by_layer.find(layer);
    if (found == mixture.seconds_a_day_by_layer.end()) continue;
    const double left = scale.at(before * 1e3);
    before += found->second;
    content += svg::rect(std::string{"fill "} + layer, {left, scale.at(before * 1e3) - left, 5, 20},
                         fmt::format("{}: {:.1f} s a day", layer, found->second));
  }
  return svg::picture(kHeight, "seconds a day by layer", content);
}

std::string figures(const MixHeadline& mixture) {
  const std::string missing = escaped(missing_text(mixture));
  const std::string seconds = mixture.seconds_a_day
                                  ? fmt::format("{:.1f} s a day", *mixture.seconds_a_day)
                                  : std::string{"not told"};
  return fmt::format("<b>{}</b><small>{}{} requests, {:.1f} a day{}{}</small>", seconds,
                     mixture.not_told.empty() ? "" : escaped(mixture.not_told) + "; ",
                     mixture.requests, mixture.requests_a_day, missing.empty() ? "" : "; ",
                     missing);
}

std::string bars(const PageContent& page) {
  double most = 0;
  for (const MixHeadline& each : page.summary.mixtures) {
    most = std::max(most, each.seconds_a_day.value_or(0) * 1e3);
  }
  const Scale scale = Scale::linear(most);
  std::string rows;
  std::vector<LegendEntry> entries;
  for (const char* layer : kLayers) entries.push_back({std::string{"fill "} + layer, layer});
  for (const MixHeadline& mixture : page.summary.mixtures) {
    rows += plot_row({page.colour(mixture.side), escaped(mixture.side), stacked(mixture, scale),
                      figures(mixture)});
  }
  return legend(entries) + "<article>" + rows + axis_row(svg::axis(scale)) + "</article>\n";
}

std::string quantile_html(const MixHeadline& mixture, double ms, int enough) {
  const char* note = mixture.requests < enough ? "<small>of few requests</small>" : "";
  const char* at_least = mixture.failed > 0 ? "at least " : "";
  return "<td>" + (at_least + milliseconds_text(ms)) + note + "</td>";
}

std::string quantiles(const PageContent& page) {
  std::string body;
  for (const MixHeadline& each : page.summary.mixtures) {
    const std::string repeat = each.repeat_ms ? milliseconds_text(*each.repeat_ms) : "–";
    body += "<tr><th>" + escaped(each.side) + "</th><td>" + repeat + "</td><td>" +
            milliseconds_text(each.p50_ms) + "</td>" +
            quantile_html(each, each.p95_ms, kEnoughForP95) +
            quantile_html(each, each.p99_ms, kEnoughForP99) + "</tr>\n";
  }
  return "<div class=\"scroll\"><table><thead><tr><th></th><th>immediate repeat</th><th>p50</th>"
         "<th>p95</th><th>p99</th></tr></thead><tbody>" +
         body + "</tbody></table></div>\n";
}

}  // namespace

std::string mixture_section(const PageContent& page) {
  if (page.summary.mixtures.empty()) return {};
  return section("mixture", "What a household waits for",
                 "<p class=\"dim\">Requests as they come in a household. Counted is what they wait "
                 "beyond an immediate repeat of the same model, by the layer that was cold. The "
                 "repeat alone, which "
                 "benchmarks like to show, stands beside what people meet.</p>\n" +
                     bars(page) + quantiles(page));
}

}  // namespace hearth::lab

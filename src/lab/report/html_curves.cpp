// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lab/report/figures.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"
#include "lab/report/plot.h"

namespace hearth::lab {
namespace {

constexpr double kTop = 16, kBottom = 236, kHeight = 262;
constexpr double kLeft = 9, kRight = 95;  // percent

struct Wording {
  const char* heading;
  const char* about;
};

Wording wording_of(const std::string& what) {
  if (what == "gap_s") {
    return {"After a pause",
            "The same short prompt, asked once after the server was left alone. Time itself "
            "changes nothing; what happens in it does: timers, other programs that want the "
            "memory, devices that go to sleep."};
  }
  if (what == "prompt_length") {
    return {"By length of the prompt",
            "A long prompt is slow with warm weights, too; a short one still waits for cold ones."};
  }
  return {"By speed of the storage",
          "A start with no page in memory, from slower and faster disks."};
}

// Everything that was varied, evenly spaced: pauses of 0 and of 480 minutes are both to be read.
struct Places {
  std::vector<double> values;
  std::map<double, std::string> labels;

  double x(double value) const {
    const auto index = std::ranges::lower_bound(values, value) - values.begin();
    const double last = std::max(1.0, static_cast<double>(values.size()) - 1);
    return kLeft + (kRight - kLeft) * static_cast<double>(index) / last;
  }
};

Places places_of(const std::vector<Curve>& curves) {
  Places places;
  for (const Curve& curve : curves) {
    for (const Curve::Point& point : curve.points) places.labels[point.at] = point.label;
  }
  for (const auto& [value, label] : places.labels) places.values.push_back(value);
  return places;
}

Scale scale_of(const std::vector<Curve>& curves) {
  std::vector<double> waits;
  for (const Curve& curve : curves) {
    for (const Curve::Point& point : curve.points) {
      waits.insert(waits.end(), {point.wait_ms.low, point.wait_ms.high});
    }
  }
  return Scale::over(waits);
}

double height_of(const Scale& scale, double wait_ms) {
  return kBottom - (kBottom - kTop) * scale.at(wait_ms) / 100;
}

std::string axes(const Places& places, const Scale& scale) {
  std::string out;
  for (const double tick : scale.ticks()) {
    const double y = height_of(scale, tick);
    out += svg::line("grid", {0, y}, {100, y});
    out += svg::text({0, y - 3}, svg::Anchor::kStart, tick_text(tick));
  }
  for (const auto& [value, label] : places.labels) {
    const bool is_last = places.values.size() > 1 && value == places.values.back();
    out += svg::text({is_last ? 100 : places.x(value), kBottom + 18},
                     is_last ? svg::Anchor::kEnd : svg::Anchor::kMiddle, escaped(label));
  }
  return out;
}

std::string name_of(const Curve& curve) {
  return curve.series.empty() ? curve.side : curve.side + ", " + curve.series;
}

std::string drawn(const Curve& curve, const Places& places, const Scale& scale,
                  const std::string& kind) {
  std::string out = "<g class=\"" + kind + "\">";
  const Curve::Point* before = nullptr;
  for (const Curve::Point& point : curve.points) {
    const svg::Point here{places.x(point.at), height_of(scale, point.wait_ms.middle)};
    if (before != nullptr) {
      out +=
          svg::line("line", {places.x(before->at), height_of(scale, before->wait_ms.middle)}, here);
    }
    out += svg::line("hair", {here.x, height_of(scale, point.wait_ms.low)},
                     {here.x, height_of(scale, point.wait_ms.high)});
    const std::string title = fmt::format(
        "{}, {}: {} ({}{} to {})", name_of(curve), point.label,
        milliseconds_text(point.wait_ms.middle), point.wait_ms.is_range() ? "range " : "",
        milliseconds_text(point.wait_ms.low), milliseconds_text(point.wait_ms.high));
    out += svg::dot("fill", here, 4, escaped(title));
    before = &point;
  }
  return out + "</g>";
}

// The first series of a side is a full line, further ones are dashed.
std::string kind_of(const PageContent& page, const std::vector<Curve>& curves, std::size_t nth) {
  const auto first = std::ranges::find(curves, curves[nth].side, &Curve::side);
  const bool is_first = first - curves.begin() == static_cast<std::ptrdiff_t>(nth);
  return page.colour(curves[nth].side) + (is_first ? "" : " dashed");
}

std::string table_of(const std::vector<Curve>& curves, const Places& places) {
  std::string head = "<tr><th></th>";
  for (const auto& [value, label] : places.labels) head += "<th>" + escaped(label) + "</th>";
  std::string body;
  for (const Curve& curve : curves) {
    body += "<tr><th>" + escaped(name_of(curve)) + "</th>";
    for (const double value : places.values) {
      const auto point = std::ranges::find(curve.points, value, &Curve::Point::at);
      const bool is_there = point != curve.points.end();
      body += "<td>" + (is_there ? interval_html(point->wait_ms) : std::string{"–"}) + "</td>";
    }
    body += "</tr>\n";
  }
  return "<div class=\"scroll\"><table><thead>" + head + "</tr></thead><tbody>" + body +
         "</tbody></table></div>\n";
}

std::string forecast_html(const PageContent& page) {
  std::string rows;
  for (const IdleForecast& forecast : page.summary.forecasts) {
    rows += fmt::format("<tr><th>{}, {}</th><td>{}</td><td>{}</td><td>{:+.0f} %</td></tr>\n",
                        escaped(forecast.side), escaped(forecast.pause),
                        interval_html(*forecast.foretold_ms), interval_html(*forecast.real_ms),
                        100 * *forecast.error());
  }
  if (rows.empty()) return {};
  return fmt::format(
      "<p>What events that were brought about at once foretold, and what waiting gave; within "
      "{:.0f} % is a good forecast.</p><div class=\"scroll\"><table><thead><tr><th>pause</th>"
      "<th>foretold</th><th>waited</th><th>off "
      "by</th></tr></thead><tbody>{}</tbody></table></div>\n",
      100 * kForecastTolerance, rows);
}

std::string curve_section(const PageContent& page, const std::string& what,
                          const std::vector<Curve>& curves) {
  const Places places = places_of(curves);
  const Scale scale = scale_of(curves);
  std::string content = axes(places, scale);
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string kind = kind_of(page, curves, i);
    content += drawn(curves[i], places, scale, kind);
    const bool is_dashed = kind.find("dashed") != std::string::npos;
    entries.push_back({(is_dashed ? "pale " : "fill ") + kind, escaped(name_of(curves[i]))});
  }
  const Wording wording = wording_of(what);
  const std::string label = "wait for the first token";
  return section("curve-" + what, wording.heading,
                 "<p class=\"dim\">" + std::string{wording.about} + "</p>\n" + legend(entries) +
                     "<article>" + svg::picture(kHeight, label, content) + "</article>\n" +
                     table_of(curves, places) + (what == "gap_s" ? forecast_html(page) : ""));
}

}  // namespace

std::string curve_sections(const PageContent& page) {
  std::string out;
  for (const auto& [what, curves] : page.summary.curves) out += curve_section(page, what, curves);
  return out;
}

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#include "lab/report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/report/figures.h"

namespace hearth::lab {
namespace {

constexpr double kWorthDecades = 30;

// 1, 2 or 5 times a power of ten, so that about four of them reach `most`.
double step_for(double most) {
  const double rough = most / 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::vector<double> decades(double low, double high) {
  std::vector<double> ticks;
  const bool few = high / low < 2000;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    if (power >= low * 0.999) ticks.push_back(power);
    const double between = power * 3;
    if (few && between >= low && between <= high) ticks.push_back(between);
  }
  return ticks;
}

}  // namespace

Scale Scale::linear(double most) {
  Scale scale;
  scale.high_ = most > 0 ? most * 1.02 : 1;
  const double step = step_for(scale.high_);
  for (double tick = 0; tick <= scale.high_; tick += step) scale.ticks_.push_back(tick);
  return scale;
}

Scale Scale::over(const std::vector<double>& values) {
  if (values.empty()) return linear(1);
  const auto [least, most] = std::ranges::minmax(values);
  if (least <= 0 || most / least < kWorthDecades) return linear(most);
  Scale scale;
  scale.logarithmic_ = true;
  scale.low_ = least / 1.3;
  scale.high_ = most * 1.15;
  scale.ticks_ = decades(scale.low_, scale.high_);
  return scale;
}

double Scale::at(double value) const {
  double share = (value - low_) / (high_ - low_);
  if (logarithmic_) share = std::log(std::max(value, low_) / low_) / std::log(high_ / low_);
  return std::clamp(share, 0.0, 1.0) * 100;
}

namespace svg {

std::string picture(double height, std::string_view label, std::string_view content) {
  return fmt::format(R"(<svg width="100%" height="{:.0f}" role="img" aria-label="{}">{}</svg>)",
                     height, label, content);
}

std::string rect(std::string_view kind, const Box& box, std::string_view title) {
  return fmt::format(
      R"(<rect class="{}" x="{:.2f}%" y="{:.1f}" width="{:.2f}%" height="{:.1f}">{}</rect>)", kind,
      box.left, box.top, std::max(0.0, box.width), box.height,
      title.empty() ? std::string{} : fmt::format("<title>{}</title>", title));
}

std::string line(std::string_view kind, Point from, Point to) {
  return fmt::format(R"(<line class="{}" x1="{:.2f}%" y1="{:.1f}" x2="{:.2f}%" y2="{:.1f}"/>)",
                     kind, from.x, from.y, to.x, to.y);
}

std::string dot(std::string_view kind, Point at, double radius, std::string_view title) {
  return fmt::format(R"(<circle class="{}" cx="{:.2f}%" cy="{:.1f}" r="{}">{}</circle>)", kind,
                     at.x, at.y, radius,
                     title.empty() ? std::string{} : fmt::format("<title>{}</title>", title));
}

std::string text(Point at, Anchor anchor, std::string_view content) {
  const char* word = anchor == Anchor::kStart ? "start" : anchor == Anchor::kEnd ? "end" : "middle";
  return fmt::format(R"(<text x="{:.2f}%" y="{:.1f}" text-anchor="{}">{}</text>)", at.x, at.y, word,
                     content);
}

std::string grid(const Scale& scale, double height) {
  std::string lines;
  for (const double tick : scale.ticks()) {
    lines += line("grid", {scale.at(tick), 0}, {scale.at(tick), height});
  }
  return lines;
}

std::string axis(const Scale& scale) {
  std::string labels;
  for (const double tick : scale.ticks()) {
    const double x = scale.at(tick);
    const Anchor anchor = x < 4 ? Anchor::kStart : x > 94 ? Anchor::kEnd : Anchor::kMiddle;
    labels += text({x, 11}, anchor, tick_text(tick));
  }
  return picture(14, "axis", labels);
}

}  // namespace svg
}  // namespace hearth::lab

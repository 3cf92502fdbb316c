// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::lab {

// Where values lie between the left and the right border of a plot, in percent of its width, so
// that plots are as wide as the reader's screen without their text growing or shrinking with it.
class Scale {
 public:
  // From 0, or where values differ by more than 30 times and none is 0, in decades. Of waits in ms.
  static Scale over(const std::vector<double>& values);
  static Scale linear(double most);

  double at(double value) const;  // 0 to 100; what lies outside is at the border
  const std::vector<double>& ticks() const { return ticks_; }
  bool is_logarithmic() const { return logarithmic_; }

 private:
  double low_ = 0;
  double high_ = 1;
  bool logarithmic_ = false;
  std::vector<double> ticks_;
};

// Pieces of SVG. `kind` is a class of the style sheet; `title` is shown when pointed at; both are
// written as they are: escape what is not our own.
namespace svg {

// All that is drawn, `height` pixels high; `label` is what a screen reader says of it.
std::string picture(double height, std::string_view label, std::string_view content);

struct Box {
  double left = 0, width = 0;  // percent
  double top = 0, height = 0;  // pixels
};
std::string rect(std::string_view kind, const Box& box, std::string_view title = {});

struct Point {
  double x = 0;  // percent
  double y = 0;  // pixels
};
std::string line(std::string_view kind, Point from, Point to);
std::string dot(std::string_view kind, Point at, double radius, std::string_view title = {});
enum class Anchor { kStart, kMiddle, kEnd };
std::string text(Point at, Anchor anchor, std::string_view content);

// Lines at the ticks, from 0 to `height`.
std::string grid(const Scale& scale, double height);
// Their labels, in ms, as a picture of its own.
std::string axis(const Scale& scale);

}  // namespace svg
}  // namespace hearth::lab

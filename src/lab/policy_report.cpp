// SPDX-License-Identifier: Apache-2.0
#include "lab/policy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

namespace hearth::lab {
namespace {

namespace json = boost::json;

constexpr int kRow = 26, kLabels = 170, kBars = 420, kTop = 50, kWidth = 700;

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') continue;
    safe += c;
  }
  return safe;
}

}  // namespace

std::string policy_table(const PolicyScores& scores) {
  std::string table = fmt::format("{:<20}{:>8}{:>10}{:>8}{:>11}{:>10}{:>10}\n", "POLICY", "STARTS",
                                  "COLD S", "P99 S", "DEMAND GB", "AHEAD GB", "KEPT GB.H");
  for (const household::Score& s : scores) {
    table += fmt::format("{:<20}{:>8}{:>10.1f}{:>8.1f}{:>11.1f}{:>10.1f}{:>10.0f}\n", s.strategy,
                         s.cold_starts, s.cold_seconds, s.p99_wait_s, s.demand_gb, s.prewarm_gb,
                         s.kept_gb_hours);
  }
  return table;
}

std::string policy_json(const PolicyScores& scores) {
  json::array all;
  for (const household::Score& s : scores) {
    all.push_back(json::object{{"policy", s.strategy},
                               {"cold_starts", s.cold_starts},
                               {"cold_seconds", s.cold_seconds},
                               {"gb_hours", s.kept_gb_hours},
                               {"held_gb_hours", s.held_gb_hours},
                               {"demand_gb", s.demand_gb},
                               {"prewarm_gb", s.prewarm_gb},
                               {"p99_wait_s", s.p99_wait_s},
                               {"refused", s.refused}});
  }
  return json::serialize(all);
}

std::string policy_picture(const PolicyScores& scores, const std::string& title) {
  PolicyScores sorted = scores;
  std::ranges::stable_sort(sorted, {}, &household::Score::cold_seconds);
  double most = 1;
  for (const household::Score& s : sorted) most = std::max(most, s.cold_seconds);
  const int height = kTop + kRow * static_cast<int>(sorted.size()) + 20;
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="sans-serif" font-size="13">)"
      R"(<rect width="100%" height="100%" fill="white"/><text x="10" y="28" font-size="16">{}</text>)",
      kWidth, height, escaped(title));
  int y = kTop;
  for (const household::Score& s : sorted) {
    const bool ours = s.strategy.starts_with("hearth");
    svg += fmt::format(
        R"(<text x="{}" y="{}" text-anchor="end">{}</text>)"
        R"(<rect x="{}" y="{}" width="{:.1f}" height="{}" fill="{}"/><text x="{:.1f}" y="{}">{:.0f} s</text>)",
        kLabels - 8, y + 15, escaped(s.strategy), kLabels, y + 3, s.cold_seconds / most * kBars,
        kRow - 8, ours ? "#c2410c" : "#64748b", kLabels + s.cold_seconds / most * kBars + 6, y + 15,
        s.cold_seconds);
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace hearth::lab

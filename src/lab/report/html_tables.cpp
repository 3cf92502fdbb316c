// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/stage.h"
#include "lab/report/figures.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"

namespace hearth::lab {
namespace {

constexpr std::size_t kMostRowsShown = 200;

std::string interval_cell(FigureUnit unit, const Interval* interval) {
  if (interval == nullptr) return "<td>–</td>";
  std::string cell = "<td>" + figure_text(unit, interval->middle);
  const std::string low = figure_text(unit, interval->low);
  const std::string high = figure_text(unit, interval->high);
  const char* range = interval->is_range() ? "range " : "";
  if (low != high) cell += "<small>" + (range + low) + " to " + high + "</small>";
  return cell + "</td>";
}

bool any_has(const Summary& summary, const std::string& figure) {
  return std::ranges::any_of(summary.cells,
                             [&](const Cell& cell) { return cell.figure(figure) != nullptr; });
}

std::vector<std::string> stages_of(const Summary& summary) {
  std::set<std::string> names;
  for (const Cell& cell : summary.cells) {
    for (const auto& each : cell.stages_ms) names.insert(each.first);
  }
  std::vector<std::string> stages{names.begin(), names.end()};
  std::ranges::stable_sort(stages, {}, [](const std::string& name) {
    const auto kind = stage_named(name);
    return kind ? static_cast<int>(*kind) : name == "start" ? -1 : 100;
  });
  return stages;
}

// The columns of one table.
struct Columns {
  std::vector<const Figure*> figures;
  std::vector<std::string> stages;
  std::vector<std::string> words{};
};

std::string heading_of_word(const std::string& name) {
  constexpr std::string_view kTold = "told.";
  if (name.starts_with(kTold)) return name.substr(kTold.size()) + ", told";
  return name == "pages_by" ? "pages by" : name;
}

// "none", or "none" with "2 of 3; hollow 1" below.
std::string word_cell(const Cell& cell, const std::string& name) {
  const auto found = cell.words.find(name);
  if (found == cell.words.end() || found->second.empty()) return "<td>–</td>";
  const auto& list = found->second;
  std::string text = "<td class=\"text\">" + escaped(list.front().first);
  if (list.front().second < cell.counted) {
    text += fmt::format("<small>{} of {}", list.front().second, cell.counted);
    for (std::size_t i = 1; i < list.size(); ++i) {
      text += fmt::format("; {} {}", escaped(list[i].first), list[i].second);
    }
    text += "</small>";
  }
  return text + "</td>";
}

std::vector<std::string> words_of(const Summary& summary) {
  std::set<std::string> names;
  for (const Cell& cell : summary.cells) {
    for (const auto& each : cell.words) names.insert(each.first);
  }
  return {names.begin(), names.end()};
}

std::string heading(const Columns& columns) {
  std::string head = "<thead><tr><th>state, server</th><th>n</th>";
  for (const Figure* figure : columns.figures) head += "<th>" + figure->heading + "</th>";
  for (const std::string& stage : columns.stages) head += "<th>" + escaped(stage) + "</th>";
  for (const std::string& word : columns.words) {
    head += "<th>" + escaped(heading_of_word(word)) + "</th>";
  }
  return head + "</tr></thead>\n";
}

std::string line_of(const Cell& cell, const Columns& columns, const std::string& colour) {
  std::string line = fmt::format("<tr class=\"{}\"><th>{}<small class=\"ink\"> {}</small></th>",
                                 colour, escaped(cell.arm), escaped(cell.side));
  line += fmt::format("<td>{}</td>", cell.counted);
  for (const Figure* figure : columns.figures) {
    line += interval_cell(figure->unit, cell.figure(figure->name));
  }
  for (const std::string& stage : columns.stages) {
    const auto found = cell.stages_ms.find(stage);
    line += interval_cell(FigureUnit::kMilliseconds,
                          found == cell.stages_ms.end() ? nullptr : &found->second);
  }
  for (const std::string& word : columns.words) line += word_cell(cell, word);
  return line + "</tr>\n";
}

std::string table(const PageContent& page, const std::string& caption, const Columns& columns) {
  if (columns.figures.empty() && columns.stages.empty() && columns.words.empty()) return {};
  std::string body;
  std::string arm;
  for (const Cell& cell : page.summary.cells) {
    const bool begins = cell.arm != arm;
    arm = cell.arm;
    body += line_of(cell, columns, page.colour(cell.side) + (begins ? " arm" : ""));
  }
  return "<h3>" + caption + "</h3>\n<div class=\"scroll\"><table>" + heading(columns) + "<tbody>" +
         body + "</tbody></table></div>\n";
}

std::vector<const Figure*> figures_of(const Summary& summary, Figure::Of kind) {
  std::vector<const Figure*> figures;
  for (const Figure& figure : all_figures()) {
    if (figure.of == kind && any_has(summary, figure.name)) figures.push_back(&figure);
  }
  return figures;
}

std::string not_made(const PageContent& page) {
  std::string rows;
  for (const auto& [what, why] : page.info.left_out) {
    rows += "<tr><th>" + escaped(what) + "</th><td class=\"text\">" + escaped(why) + "</td></tr>\n";
  }
  if (rows.empty()) return {};
  return "<h3>Not made</h3>\n<div class=\"scroll\"><table><tbody>" + rows +
         "</tbody></table></div>\n";
}

std::string row_line(const Trial& row, const std::string& why) {
  const auto wait = row.timing.wait_ms();
  return fmt::format(
      "<tr><th>{}<small> {}</small></th><td>{}</td><td>{}</td><td class=\"text\">{}</td></tr>\n",
      escaped(row.arm), escaped(row.side), row.order,
      wait && row.failure.empty() ? milliseconds_text(*wait) : "–", escaped(why));
}

std::string not_counted(const PageContent& page) {
  std::string rows;
  std::size_t shown = 0;
  for (const LeftOut& left : page.summary.left_out) {
    if (shown++ == kMostRowsShown) break;
    rows += row_line(page.rows[left.row], left.why);
  }
  if (rows.empty()) return {};
  const std::size_t all = page.summary.left_out.size();
  const std::string more =
      all > kMostRowsShown
          ? fmt::format("<p class=\"dim\">{} more are in rows.csv.</p>\n", all - kMostRowsShown)
          : "";
  return "<h3>Measured, and not counted</h3>\n<div class=\"scroll\"><table><thead><tr><th>state, "
         "server</th><th>trial</th><th>wait</th><th>why</th></tr></thead><tbody>" +
         rows + "</tbody></table></div>\n" + more;
}

}  // namespace

std::string table_section(const PageContent& page) {
  const Summary& summary = page.summary;
  const std::string tables =
      table(page, "Times", {figures_of(summary, Figure::Of::kTiming), {}}) +
      table(page, "Stages, as the servers tell", {{}, stages_of(summary)}) +
      table(page, "What it took", {figures_of(summary, Figure::Of::kEffects), {}}) +
      table(page, "Proof of the states, right before the request",
            {figures_of(summary, Figure::Of::kProof), {}, words_of(summary)});
  if (tables.empty()) return {};
  return section("tables", "All figures",
                 "<p class=\"dim\">Medians, and below them their 95 % intervals; of fewer than 6 "
                 "requests their range. A dash is what "
                 "could not be observed.</p>\n" +
                     tables);
}

std::string left_out_section(const PageContent& page) {
  return section("left-out", "Left out", not_made(page) + not_counted(page));
}

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <algorithm>

#include "cli/display_width.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kGap = "  ";

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = one_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::render(const OutputStyle& style) const {
  return style.terminal ? aligned(style) : tabbed();
}

std::string Table::aligned(const OutputStyle& style) const {
  std::vector<std::string> headings;
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    headings.push_back(columns_[c].heading);
    widths.push_back(display_width(columns_[c].heading));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  const auto line_of = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line += kGap;
      line += columns_[c].align == Align::kLeft ? pad_right(cells[c], widths[c])
                                                : pad_left(cells[c], widths[c]);
    }
    return without_trailing_spaces(std::move(line));
  };
  std::string out = style.paint(Paint::kDim, line_of(headings)) + "\n";
  for (const auto& row : rows_) out += line_of(row) + "\n";
  return out;
}

std::string Table::tabbed() const {
  std::string out;
  const auto append = [&out](const auto& cells, const auto& text_of) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) out += '\t';
      out += text_of(cells[c]);
    }
    out += '\n';
  };
  append(columns_, [](const Column& column) { return column.heading; });
  for (const auto& row : rows_) append(row, [](const std::string& cell) { return cell; });
  return out;
}

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <algorithm>
#include <numeric>

#include "cli/display_width.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kGap = "  ";

// The last column may hold a sentence, which is cut rather than let it push others out.
constexpr std::size_t kEnoughOfTheLast = 24;

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

void Table::note(std::string sentence) { notes_[rows_.size() - 1] = one_line(std::move(sentence)); }

std::string Table::render(const OutputStyle& style) const {
  return style.terminal ? aligned(style) : tabbed();
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(display_width(columns_[c].heading));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  return widths;
}

std::vector<std::size_t> Table::fitting(const std::vector<std::size_t>& widths,
                                        std::size_t room) const {
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), 0);
  std::size_t wanted = kGap.size() * (shown.size() - 1);
  for (const std::size_t c : shown) {
    wanted += c + 1 == shown.size() ? std::min(widths[c], kEnoughOfTheLast) : widths[c];
  }
  const int last = std::ranges::max(columns_, {}, &Column::leaves).leaves;
  for (int leaving = 1; leaving <= last && wanted > room; ++leaving) {
    const auto at =
        std::ranges::find_if(shown, [&](std::size_t c) { return columns_[c].leaves == leaving; });
    if (at == shown.end()) continue;
    wanted -= widths[*at] + kGap.size();
    shown.erase(at);
  }
  return shown;
}

std::string Table::aligned(const OutputStyle& style) const {
  const std::vector<std::size_t> wide = widths();
  const std::vector<std::size_t> shown = fitting(wide, style.width);
  const auto line_of = [&](const auto& text_of) {
    std::string line;
    for (const std::size_t c : shown) {
      if (c != shown.front()) line += kGap;
      line += columns_[c].align == Align::kLeft ? pad_right(text_of(c), wide[c])
                                                : pad_left(text_of(c), wide[c]);
    }
    return clip(without_trailing_spaces(std::move(line)), style.width);
  };
  const auto heading_of = [this](std::size_t c) { return columns_[c].heading; };
  std::string out = style.paint(Paint::kDim, line_of(heading_of)) + "\n";
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    out += line_of([&](std::size_t c) { return rows_[r][c]; }) + "\n";
    const auto note = notes_.find(r);
    if (note == notes_.end()) continue;
    out += style.paint(Paint::kYellow, wrap(note->second, style.width, kGap)) + "\n";
  }
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
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::vector<std::string> cells = rows_[r];
    const auto note = notes_.find(r);
    if (note != notes_.end()) cells.push_back(note->second);
    append(cells, [](const std::string& cell) { return cell; });
  }
  return out;
}

}  // namespace hearth::cli

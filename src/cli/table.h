// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace hearth::cli {

enum class Align { kLeft, kRight };

// Rows under headings. On a terminal: aligned columns, two spaces apart, headings dim. In a pipe:
// the same cells separated by tabs, for `cut` and `awk`; a tab or newline inside a cell becomes a
// space. A terminal that is too narrow gets fewer columns, and lines that end at its border.
class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
    int leaves = 0;  // 1 is the first to go where there is no room; 0 stays
  };

  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

  // One cell a column; missing ones are empty.
  void add(std::vector<std::string> cells);

  // A sentence about the last row: below it on a terminal, in a pipe one more cell. There is a row.
  void note(std::string sentence);

  bool empty() const { return rows_.empty(); }

  // Every line ends with a newline.
  std::string render(const OutputStyle& style) const;

 private:
  std::string aligned(const OutputStyle& style) const;
  std::vector<std::size_t> widths() const;
  // Which columns fit, as their indexes.
  std::vector<std::size_t> fitting(const std::vector<std::size_t>& widths, std::size_t room) const;
  std::string tabbed() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::map<std::size_t, std::string> notes_;  // by row
};

}  // namespace hearth::cli

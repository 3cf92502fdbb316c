// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace hearth::cli {

enum class Align { kLeft, kRight };

// Rows under headings. On a terminal: aligned columns, two spaces apart, headings dim. In a pipe:
// the same cells separated by tabs, for `cut` and `awk`; a tab or newline inside a cell becomes a
// space.
class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

  // One cell a column; missing ones are empty.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  // Every line ends with a newline.
  std::string render(const OutputStyle& style) const;

 private:
  std::string aligned(const OutputStyle& style) const;
  std::string tabbed() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hearth::cli

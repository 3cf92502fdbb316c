// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// Words and values of a Modelfile, from front to back. All line ends count as "\n".
class ModelfileLines {
 public:
  explicit ModelfileLines(std::string_view text);

  // Goes to the next instruction, past blank lines and comments; false: there is none.
  bool skip_blank();
  // The line on which the instruction begins, from 1.
  int began() const { return began_; }

  // Up to the next blank or the end of the line; empty when nothing is left of it.
  std::string_view take_word();
  // The rest of the line, or, when it begins with quotation marks, all up to a line that ends with
  // as many. Errors: kInvalid, when none does.
  Result<std::string> take_value();

  // How a value has to be written so that take_value() reads it, but for its kinds of line ends;
  // nullopt: there is no way.
  static std::optional<std::string> quoted(std::string_view value);

 private:
  std::string_view take_line();
  Result<std::string> take_quoted(std::string_view quotes);

  std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int began_ = 1;
};

}  // namespace hearth

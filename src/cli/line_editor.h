// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace hearth::cli {

// Reads lines from the terminal with editing and with the lines of this session as history (kept in
// memory only: prompts are nobody's business). One at a time, as the terminal is.
class LineEditor {
 public:
  explicit LineEditor(std::string prompt);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The line without its newline. ^C gives the line up and begins an empty one; nothing at ^D or
  // end of input.
  std::optional<std::string> read();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace hearth::cli

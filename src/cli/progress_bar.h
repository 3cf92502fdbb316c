// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdio>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "cli/terminal.h"

namespace hearth::cli {

struct ProgressNote {
  std::string stage{};  // "read", "load", ...
  double fraction = 0;
  Bytes done{};
  Bytes total{};       // zero: not counted in bytes
  Bytes per_second{};  // zero: not known
  std::optional<double> eta_ms{};
  std::optional<double> ahead{};  // in a queue
};

// As the server tells it: {"stage", "fraction", "done_bytes", "total_bytes", "bytes_per_s",
// "eta_ms", "ahead"}.
ProgressNote progress_note(const boost::json::object& progress);

// One line of progress: "read  [######--------]  40%  96.5 MiB of 241 MiB". At most `style.width`
// - 1.
std::string progress_line(const ProgressNote& note, const OutputStyle& style);

// Draws progress on a terminal in one line that is overwritten, and removes it again; in a pipe or
// a file it writes nothing. Clears itself when it goes.
class ProgressBar {
 public:
  ProgressBar(std::FILE* out, OutputStyle style) : out_{out}, style_{style} {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(const ProgressNote& note);
  void clear();

 private:
  std::FILE* out_;
  OutputStyle style_;
  bool drawn_ = false;
};

}  // namespace hearth::cli

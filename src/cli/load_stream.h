// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/progress_bar.h"
#include "http/line_reader.h"

namespace hearth::cli {

// Reads what warming a model answers when it tells of its progress: lines of JSON, of which those
// with "progress" are handed over and the last one is the model or an error.
class LoadStream {
 public:
  explicit LoadStream(std::function<void(const ProgressNote&)> on_progress);
  LoadStream(const LoadStream&) = delete;
  LoadStream& operator=(const LoadStream&) = delete;

  void feed(std::string_view bytes) { lines_.feed(bytes); }

  // The model as JSON, once the stream has ended. Errors: what the server said; kUnavailable, when
  // the stream broke off before its last line.
  Result<std::string> finish();

 private:
  void take_line(std::string_view line);

  std::function<void(const ProgressNote&)> on_progress_;
  std::string last_;
  http::LineReader lines_;
};

}  // namespace hearth::cli

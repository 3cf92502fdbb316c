// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/line_reader.h"

namespace hearth::cli {

// Reads an answer that grows while the server works: lines of JSON objects, of which the last one
// is the result, or an error. What is no object is passed over.
class AnswerLines {
 public:
  // Gets every line; true means that it only told how things stand, and cannot be the last one.
  using Take = std::function<bool(const boost::json::object& line)>;
  explicit AnswerLines(Take take);
  AnswerLines(const AnswerLines&) = delete;
  AnswerLines& operator=(const AnswerLines&) = delete;

  void feed(std::string_view bytes) { lines_.feed(bytes); }

  // The result as JSON, once the stream has ended. Errors: what the server said; kUnavailable, when
  // the stream broke off before its last line.
  Result<std::string> finish();

 private:
  void take_line(std::string_view line);

  Take take_;
  std::string last_;
  http::LineReader lines_;
};

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "cli/progress_bar.h"
#include "http/line_reader.h"

namespace hearth::cli {

// What a streamed reply says besides its text. Members are empty where the server left them out.
struct ReplyEnd {
  std::string finish_reason;    // empty: the stream broke off
  std::string error;            // an error sent inside the stream
  boost::json::object hearth;   // class, stages, verdict
  boost::json::object timings;  // tokens per second
};

// Reads the server-sent events of one streamed chat completion, in pieces of any size. Events that
// cannot be read are skipped.
class ChatStream {
 public:
  struct Handlers {
    std::function<void(const ProgressNote&)> on_progress;  // while the model warms
    std::function<void(std::string_view)> on_text;
    std::function<void(std::string_view)> on_reasoning;
  };

  explicit ChatStream(Handlers handlers);
  ChatStream(const ChatStream&) = delete;
  ChatStream& operator=(const ChatStream&) = delete;

  void feed(std::string_view bytes) { lines_.feed(bytes); }
  const ReplyEnd& end() const { return end_; }

 private:
  void take_line(std::string_view line);
  void take_progress(std::string_view json);
  void take_chunk(std::string_view json);
  void take_choice(const boost::json::object& choice);

  Handlers handlers_;
  ReplyEnd end_;
  http::LineReader lines_;
};

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "http/line_reader.h"

namespace hearth::cli {

// Cuts the server's live events out of a stream, in pieces of any size. Comments and what is no
// event are passed over.
class EventLines {
 public:
  using Handler = std::function<void(const std::string& type, std::string_view data)>;

  explicit EventLines(Handler on_event);
  EventLines(const EventLines&) = delete;
  EventLines& operator=(const EventLines&) = delete;

  void feed(std::string_view bytes) { lines_.feed(bytes); }

 private:
  void take_line(std::string_view line);

  Handler on_event_;
  std::string type_;
  std::string data_;
  http::LineReader lines_;
};

}  // namespace hearth::cli

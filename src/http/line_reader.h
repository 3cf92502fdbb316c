// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::http {

// Cuts a stream into lines, without their "\n" or "\r\n"; for the readers of Client::stream(). The
// view a callback gets is valid during the call.
class LineReader {
 public:
  explicit LineReader(std::function<void(std::string_view)> on_line)
      : on_line_{std::move(on_line)} {}
  void feed(std::string_view bytes);

  // The stream has ended: a last line without its "\n" counts too.
  void finish();

 private:
  void emit(std::string_view line) const;

  std::function<void(std::string_view)> on_line_;
  std::string pending_;
};

// What a line of server-sent events carries in its data field; nullopt for any other line. (Our
// streams have one data line per event.)
std::optional<std::string_view> event_data(std::string_view line);

}  // namespace hearth::http

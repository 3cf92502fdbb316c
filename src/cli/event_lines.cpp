// SPDX-License-Identifier: Apache-2.0
#include "cli/event_lines.h"

#include <utility>

namespace hearth::cli {
namespace {

constexpr std::string_view kType = "event: ";

}  // namespace

EventLines::EventLines(Handler on_event)
    : on_event_{std::move(on_event)}, lines_{[this](std::string_view line) { take_line(line); }} {}

void EventLines::take_line(std::string_view line) {
  if (line.starts_with(kType)) {
    type_ = line.substr(kType.size());
  } else if (const auto data = http::event_data(line)) {
    data_ += *data;
  } else if (line.empty()) {
    const std::string type = std::exchange(type_, {});
    const std::string whole = std::exchange(data_, {});
    if (!whole.empty()) on_event_(type, whole);
  }
}

}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/event_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth::cli {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

TEST(EventLines, ReadsEventsInPiecesOfAnySize) {
  const std::string stream =
      ": live events of this server\n\n"
      "event: levels\nid: 1\ndata: {\"model\":\"a\"}\n\n"
      ": still here\n\n"
      "event: move\nid: 2\n\n"
      "event: request\nid: 3\ndata: {}\n\nevent: cut off";
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    Events events;
    EventLines lines{[&events](const std::string& type, std::string_view data) {
      events.emplace_back(type, data);
    }};
    for (std::size_t at = 0; at < stream.size(); at += size) lines.feed(stream.substr(at, size));
    EXPECT_EQ(events, (Events{{"levels", "{\"model\":\"a\"}"}, {"request", "{}"}})) << size;
  }
}

}  // namespace
}  // namespace hearth::cli

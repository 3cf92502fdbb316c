// SPDX-License-Identifier: Apache-2.0
#include "http/line_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth::http {
namespace {

std::vector<std::string> lines_of(const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  LineReader reader{[&lines](std::string_view line) { lines.emplace_back(line); }};
  for (const std::string& piece : pieces) reader.feed(piece);
  reader.finish();
  return lines;
}

TEST(LineReader, CutsWhereverThePiecesEnd) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of({"one\ntwo\n"}), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of({"o", "ne", "\nt", "wo\n"}), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of({"one\r", "\n\r\n"}), (Lines{"one", ""}));
  EXPECT_EQ(lines_of({"one\nlast"}), (Lines{"one", "last"}));
  EXPECT_EQ(lines_of({}), Lines{});
}

TEST(LineReader, EventDataIsWhatFollowsTheField) {
  EXPECT_EQ(event_data("data: {\"a\":1}"), "{\"a\":1}");
  EXPECT_EQ(event_data("data:x"), "x");
  EXPECT_EQ(event_data("data:"), "");
  EXPECT_EQ(event_data("event: done"), std::nullopt);
  EXPECT_EQ(event_data(": comment"), std::nullopt);
  EXPECT_EQ(event_data(""), std::nullopt);
}

}  // namespace
}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

namespace hearth::log {
namespace {

std::string line_of(void (*write)()) {
  testing::internal::CaptureStderr();
  write();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, QuotesWhereAReaderNeedsIt) {
  const std::string line = line_of([] {
    info("test.quotes", {{"n", 7}, {"plain", "a/b"}, {"text", "two \"words\"\n"}, {"none", ""}});
  });
  EXPECT_NE(line.find(R"( info  test.quotes n=7 plain=a/b text="two \"words\"\n" none="")"),
            std::string::npos)
      << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(Log, EscapesWhatATerminalWouldObey) {
  const std::string line = line_of([] { info("test.control", {{"v", "\x1b[31m\r\x7f"}}); });
  EXPECT_NE(line.find(R"(v="\x1b[31m\x0d\x7f")"), std::string::npos) << line;
}

TEST(Log, CountsWarningsAndErrorsByEvent) {
  const auto before = counts();
  testing::internal::CaptureStderr();
  info("test.counted");
  warn("test.counted.warning");
  warn("test.counted.warning");
  error("test.counted.error");
  testing::internal::GetCapturedStderr();
  const auto after = counts();
  EXPECT_FALSE(after.contains("test.counted"));
  EXPECT_EQ(after.at("test.counted.warning"),
            (before.contains("test.counted.warning") ? before.at("test.counted.warning") : 0) + 2);
  EXPECT_TRUE(after.contains("test.counted.error"));
}

TEST(Log, DropsWhatIsBelowTheLevelButCountsIt) {
  set_level(Level::kError);
  const std::string line = line_of([] { warn("test.dropped"); });
  set_level(Level::kInfo);
  EXPECT_EQ(line, "");
  EXPECT_TRUE(counts().contains("test.dropped"));
}

}  // namespace
}  // namespace hearth::log

// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <gtest/gtest.h>

#include "cli/display_width.h"

namespace hearth::cli {
namespace {

using namespace hearth::literals;

const ProgressNote kReading{.stage = "read", .fraction = 0.4, .done = 96_MiB, .total = 241_MiB};

TEST(ProgressLine, SaysStageShareAndBytes) {
  EXPECT_EQ(progress_line(kReading, {.terminal = true}),
            "read      [##########--------------]   40%  96.0 MiB of 241 MiB");
  EXPECT_EQ(progress_line(kReading, {.terminal = true, .unicode = true}),
            "read      ██████████░░░░░░░░░░░░░░   40%  96.0 MiB of 241 MiB");
}

TEST(ProgressLine, SaysSpeedAndTimeLeft) {
  const ProgressNote pulling{.stage = "download",
                             .fraction = 0.5,
                             .done = 1_GiB,
                             .total = 2_GiB,
                             .per_second = 100_MiB,
                             .eta_ms = 10'240};
  EXPECT_EQ(
      progress_line(pulling, {.terminal = true, .width = 120}),
      "download  [############------------]   50%  1.00 GiB of 2.00 GiB  100 MiB/s  10.2 s left");
}

TEST(ProgressLine, SaysThePlaceInAQueue) {
  EXPECT_EQ(progress_line({.stage = "queue", .eta_ms = 4200, .ahead = 2}, {.terminal = true}),
            "queue     2 before  4.20 s left at least");
  EXPECT_EQ(progress_line({.stage = "queue", .ahead = 0}, {.terminal = true}), "queue     next");
}

TEST(ProgressLine, FitsItsTerminal) {
  EXPECT_EQ(display_width(progress_line(kReading, {.terminal = true, .width = 40})), 39U);
}

TEST(ProgressLine, TakesAnyFraction) {
  EXPECT_EQ(progress_line({.stage = "load", .fraction = 7}, {.terminal = true}),
            "load      [########################]  100%");
  EXPECT_EQ(progress_line({.stage = "load", .fraction = -1}, {.terminal = true}),
            "load      [------------------------]    0%");
}

// What `action` writes to a stream.
std::string written(const OutputStyle& style) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  {
    ProgressBar bar{stream, style};
    bar.update(kReading);
  }
  std::fclose(stream);
  std::string out{text, size};
  std::free(text);
  return out;
}

TEST(ProgressBar, LeavesNothingBehind) {
  const std::string out = written({.terminal = true});
  EXPECT_NE(out.find("read"), std::string::npos);
  EXPECT_TRUE(out.ends_with("\r\033[K"));
}

TEST(ProgressBar, WritesNothingIntoAPipe) { EXPECT_EQ(written({}), ""); }

TEST(ProgressNoteOf, IsLenient) {
  const auto note = progress_note(
      boost::json::parse(R"({"stage":"read","fraction":0.5,"done_bytes":-3,"total_bytes":8})")
          .get_object());
  EXPECT_EQ(note.stage, "read");
  EXPECT_EQ(note.fraction, 0.5);
  EXPECT_EQ(note.done, Bytes{});
  EXPECT_EQ(note.total, Bytes{8});
  EXPECT_EQ(progress_note({}).stage, "");
}

}  // namespace
}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/display_width.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

TEST(DisplayWidth, CountsCells) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("model"), 5U);
  EXPECT_EQ(display_width("modèle"), 6U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("🔥"), 2U);
  EXPECT_EQ(display_width("\xFF\xC3"), 2U);
}

TEST(DisplayWidth, PadsByCells) {
  EXPECT_EQ(pad_right("日", 4), "日  ");
  EXPECT_EQ(pad_left("7", 3), "  7");
  EXPECT_EQ(pad_left("longer", 3), "longer");
}

TEST(DisplayWidth, ClipsBetweenCharacters) {
  EXPECT_EQ(clip("abc", 2), "ab");
  EXPECT_EQ(clip("日本", 3), "日");
  EXPECT_EQ(clip("abc", 9), "abc");
}

TEST(DisplayWidth, ControlCharactersAreTakenOut) {
  EXPECT_EQ(one_line("a\033[31mb"), "a[31mb");
  EXPECT_EQ(one_line("two\nlines\tand\x7F"), "two lines and");
  EXPECT_EQ(one_line("\u009B31m"), "31m");
}

TEST(DisplayWidth, WrapsAtSpaces) {
  EXPECT_EQ(wrap("one two three", 9, "  "), "  one two\n  three");
  EXPECT_EQ(wrap("unbreakable", 4, ""), "unbreakable");
  EXPECT_EQ(wrap("  spaced   out ", 20, ""), "spaced out");
  EXPECT_EQ(wrap("", 20, "  "), "");
}

}  // namespace
}  // namespace hearth::cli

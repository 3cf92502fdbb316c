// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

Table sample() {
  Table table{{{"NAME"}, {"SIZE", Align::kRight}, {"STATUS"}}};
  table.add({"日本:4b", "4.10 GiB", "ok"});
  table.add({"tiny", "91.3 MiB", "broken:\ttruncated"});
  table.add({"short row"});
  return table;
}

TEST(Table, IsAlignedOnATerminal) {
  EXPECT_EQ(sample().render({.terminal = true}),
            "NAME           SIZE  STATUS\n"
            "日本:4b    4.10 GiB  ok\n"
            "tiny       91.3 MiB  broken: truncated\n"
            "short row\n");
}

TEST(Table, DimsItsHeadingsWhereThereAreColours) {
  Table table{{{"A"}}};
  EXPECT_EQ(table.render({.terminal = true, .colour = true}), "\033[2mA\033[0m\n");
}

TEST(Table, IsTabSeparatedInAPipe) {
  EXPECT_EQ(sample().render({}),
            "NAME\tSIZE\tSTATUS\n"
            "日本:4b\t4.10 GiB\tok\n"
            "tiny\t91.3 MiB\tbroken: truncated\n"
            "short row\t\t\n");
}

TEST(Table, NotesBelongToTheirRow) {
  Table table{{{"NAME"}, {"SIZE"}}};
  table.add({"a", "1"});
  table.note("one\ttwo three");
  table.add({"b", "2"});
  EXPECT_EQ(table.render({.terminal = true, .width = 10}),
            "NAME  SIZE\na     1\n  one two\n  three\nb     2\n");
  EXPECT_EQ(table.render({}), "NAME\tSIZE\na\t1\tone two three\nb\t2\n");
}

TEST(Table, LetsColumnsGoWhereThereIsNoRoom) {
  Table table{{{"NAME"}, {"SECOND", Align::kLeft, 2}, {"FIRST", Align::kRight, 1}, {"LAST"}}};
  table.add({"a", "b", "c", "d"});
  EXPECT_EQ(table.render({.terminal = true, .width = 25}),
            "NAME  SECOND  FIRST  LAST\na     b           c  d\n");
  EXPECT_EQ(table.render({.terminal = true, .width = 24}), "NAME  SECOND  LAST\na     b       d\n");
  EXPECT_EQ(table.render({.terminal = true, .width = 10}), "NAME  LAST\na     d\n");
  EXPECT_EQ(table.render({.terminal = true, .width = 8}), "NAME  LA\na     d\n");
  EXPECT_EQ(table.render({.width = 8}), "NAME\tSECOND\tFIRST\tLAST\na\tb\tc\td\n");
}

}  // namespace
}  // namespace hearth::cli

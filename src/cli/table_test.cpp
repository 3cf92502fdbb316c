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

}  // namespace
}  // namespace hearth::cli

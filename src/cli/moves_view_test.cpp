// SPDX-License-Identifier: Apache-2.0
#include "cli/moves_view.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

constexpr std::int64_t kNow = 1'700'000'125'000'000;

boost::json::object moves() {
  return boost::json::parse(R"({"total": 4, "moves": [
    {"at_us": 1700000120000000, "model": "smollm2:latest", "layer": "weights", "from": "resident",
     "to": "hollow", "cause": "evicted_for", "for": "gemma:latest", "bytes": 178257920, "ms": 12.4},
    {"at_us": 1700000005000000, "model": "gemma:latest", "layer": "prefix", "from": "in RAM",
     "to": "on disk", "cause": "pressure", "bytes": 1048576, "ms": 3},
    {"at_us": 1699990000000000, "model": "gemma:latest", "layer": "weights", "from": "hollow",
     "to": "resident", "cause": "prewarm", "bytes": 0, "ms": 800, "error": "it is not wanted now"},
    {"at_us": 1699990000000000, "model": "x", "layer": "pages", "from": "pinned", "to": "resident",
     "cause": "moon", "bytes": 1, "ms": 0}]})")
      .get_object();
}

TEST(MovesView, InAPipe) {
  EXPECT_EQ(moves_view(moves(), 20, kNow, {}),
            "AGO\tMODEL\tLAYER\tFROM, TO\tBYTES\tTOOK\tWHY\n"
            "5 s\tsmollm2:latest\tweights\tresident -> hollow\t170 MiB\t12 ms\tfor "
            "gemma:latest\n"
            "2 min\tgemma:latest\tprefix\tin RAM -> on disk\t1.00 MiB\t3.0 ms\tmemory was "
            "short\n"
            "2 h\tgemma:latest\tweights\thollow -> resident\t-\t800 ms\tfailed: it is not "
            "wanted now\n"
            "2 h\tx\tpages\tpinned -> resident\t1 B\t0 ms\tmoon\n");
}

TEST(MovesView, OnATerminalTheNewest) {
  EXPECT_EQ(moves_view(moves(), 1, kNow, {.terminal = true, .unicode = true, .width = 90}),
            "AGO  MODEL           LAYER    FROM, TO             BYTES   TOOK  WHY\n"
            "5 s  smollm2:latest  weights  resident → hollow  170 MiB  12 ms  for "
            "gemma:latest\n"
            "3 older ones are known; `hearth moves -n 4` shows them\n");
}

TEST(MovesView, EightyColumnsHoldWhatMatters) {
  const std::string view = moves_view(moves(), 1, kNow, {.terminal = true});
  EXPECT_NE(
      view.find("5 s  smollm2:latest  weights  resident -> hollow  170 MiB  for gemma:latest"),
      std::string::npos)
      << view;
}

TEST(MovesView, NothingIsNothing) {
  EXPECT_EQ(moves_view({}, 20, kNow, {}), "");
  EXPECT_EQ(moves_view(boost::json::parse(R"({"moves": [], "total": 0})").get_object(), 20, kNow,
                       {.terminal = true}),
            "");
}

}  // namespace
}  // namespace hearth::cli

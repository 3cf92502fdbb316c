// SPDX-License-Identifier: Apache-2.0
#include "lab/report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "lab/report/sample_run.h"
#include "lab/report/stage_bars.h"

namespace hearth::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Summary, OfNothingIsEmpty) {
  const Summary summary = summarise({}, {});
  EXPECT_TRUE(summary.cells.empty());
  EXPECT_TRUE(parse_json(to_json({}, summary)));
}

TEST(Summary, HasACellForEachSideOfEachArmInOrder) {
  const Summary summary = summarise(sample::info(), sample::rows(5));
  EXPECT_THAT(summary.sides, ElementsAre("hearth", "llama-server"));
  EXPECT_THAT(summary.arms, ElementsAre("after reboot", "page-cold 50 %", "immediate repeat"));
  ASSERT_THAT(summary.cells, SizeIs(6));
  const Cell* cell = summary.cell("hearth", "after reboot");
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->counted, 5);
  EXPECT_NEAR(cell->figure("wait_ms")->middle, 1800, 180);
  EXPECT_EQ(cell->figure("bytes_read"), nullptr);
  EXPECT_EQ(cell->stages_ms.at("read").middle, 900);
  EXPECT_EQ(cell->verdict_code, "storage_read");
  ASSERT_TRUE(cell->typical);
  EXPECT_EQ(summary.cell("hearth", "never made"), nullptr);
}

TEST(Summary, ComparesInPairsFromOneBlock) {
  const Summary summary = summarise(sample::info(), sample::rows(5));
  const Ratio* ratio = summary.ratio("llama-server", "after reboot");
  ASSERT_NE(ratio, nullptr);
  // The noise of a block is the same on both sides and cancels.
  EXPECT_NEAR(ratio->ratio.low, 0.75, 1e-9);
  EXPECT_NEAR(ratio->ratio.high, 0.75, 1e-9);
  EXPECT_EQ(ratio->ratio.count, 5);
}

TEST(Summary, WhatDoesNotCountIsListedAndNotInTheFigures) {
  std::vector<Trial> rows = sample::rows(3);
  Trial flagged = sample::row("hearth", "after reboot", 90'000);
  flagged.flags = {"busy: 0.8 cores", "state: pages 0.2"};
  Trial failed = sample::row("hearth", "after reboot", 1);
  failed.failure = "it hung";
  rows.push_back(flagged);
  rows.push_back(failed);
  const Summary summary = summarise(sample::info(), rows);
  const Cell* cell = summary.cell("hearth", "after reboot");
  EXPECT_EQ(cell->counted, 3);
  EXPECT_EQ(cell->flagged, 1);
  EXPECT_EQ(cell->failed, 1);
  EXPECT_LT(cell->figure("wait_ms")->high, 2000);
  ASSERT_THAT(summary.left_out, SizeIs(2));
  EXPECT_EQ(summary.left_out[0].why, "busy: 0.8 cores; state: pages 0.2");
  EXPECT_EQ(summary.left_out[1].why, "it hung");
}

TEST(Summary, TakesAVerdictAndItsTextFromOneRow) {
  std::vector<Trial> rows;
  for (const double ms : {10.0, 20.0, 90.0}) {
    rows.push_back(sample::row("hearth", "after reboot", ms));
    rows.back().verdict_code = "storage_read";
    rows.back().verdict_text = "it was read";
  }
  rows[1].verdict_code = "loaded";
  rows[1].verdict_text = "it was loaded";
  const Cell cell = summarise({}, rows).cells.at(0);
  EXPECT_EQ(cell.typical, 1);
  EXPECT_EQ(cell.verdict_code, "loaded");
  EXPECT_EQ(cell.verdict_text, "it was loaded");
}

TEST(Summary, AStartOfTheServerIsWaitedForToo) {
  Trial row = sample::row("llama-server", "after reboot", 300);
  row.timing.start_ms = 1000;
  const Summary summary = summarise({}, {row});
  EXPECT_EQ(summary.cells[0].figure("wait_ms")->middle, 1300);
}

TEST(Summary, DrawsCurvesOverWhatWasVaried) {
  std::vector<Trial> rows;
  for (const double minutes : {10.0, 0.0}) {
    for (const char* series : {"", ", injected"}) {
      Trial row = sample::row("hearth", std::to_string(static_cast<int>(minutes)) + " min" + series,
                              100 + minutes);
      row.extra["gap_s"] = minutes * 60;
      rows.push_back(row);
    }
  }
  const Summary summary = summarise({}, rows);
  const auto& curves = summary.curves.at("gap_s");
  ASSERT_THAT(curves, SizeIs(2));
  EXPECT_EQ(curves[0].series, "");
  EXPECT_EQ(curves[1].series, "injected");
  ASSERT_THAT(curves[1].points, SizeIs(2));
  EXPECT_EQ(curves[1].points[0].label, "0 min");
  EXPECT_EQ(curves[1].points[1].at, 600);
}

TEST(SummaryJson, HasTheFiguresAndSurvivesForeignText) {
  std::vector<Trial> rows = sample::rows(3);
  rows[0].arm = "\xff\"</script>";
  const auto parsed = parse_json(to_json(sample::info(), summarise(sample::info(), rows)));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->at("sides").as_array().size(), 2);
  const std::string text = to_json(sample::info(), summarise(sample::info(), sample::rows(9)));
  EXPECT_THAT(text, ::testing::Not(::testing::ContainsRegex("[0-9]E[0-9-]")));
  EXPECT_EQ(parsed->at("ratios").at(0).at("against").as_string(), "llama-server");
}

TEST(StageBars, StandWhereTheServerSaysThatTheyWere) {
  Trial row = sample::row("hearth", "a", 100);
  row.timing.start_ms = 50;
  row.report = R"({"hearth":{"stages":[{"name":"read","start_ms":1,"ms":60},
    {"name":"load","start_ms":20,"ms":60},{"name":"prefill","start_ms":80,"ms":10}]}})";
  const StageBars stages = stage_bars(row);
  EXPECT_TRUE(stages.told_when);
  ASSERT_THAT(stages.bars, SizeIs(4));
  EXPECT_EQ(stages.bars[0].name, "start");
  EXPECT_EQ(stages.bars[1].from_ms, 51);
  EXPECT_THAT(lanes_of(stages.bars), ElementsAre(0, 0, 1, 0));
}

TEST(StageBars, FollowEachOtherWhereOnlyLengthsAreTold) {
  Trial row = sample::row("llama-server", "a", 100);
  row.report = "no json";
  row.timing.stages_ms = {{"decode", 30}, {"prefill", 20}, {"queue", 0}};
  const StageBars stages = stage_bars(row);
  EXPECT_FALSE(stages.told_when);
  ASSERT_THAT(stages.bars, SizeIs(3));
  EXPECT_EQ(stages.bars[0].name, kUntoldStage);
  EXPECT_EQ(stages.bars[1].name, "prefill");
  EXPECT_EQ(stages.bars[1].from_ms, 80);
  EXPECT_EQ(stages.bars[2].from_ms, 100);
}

}  // namespace
}  // namespace hearth::lab

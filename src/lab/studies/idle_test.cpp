// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/idle.h"

#include <gmock/gmock.h>

namespace hearth::lab {
namespace {

using std::chrono::minutes;

Trial row(const std::string& side, int gap_minutes, Pausing pausing, double first_token_ms) {
  Trial trial;
  trial.study = "idle";
  trial.side = side;
  const Study study = idle_study({minutes{gap_minutes}}, pausing);
  trial.arm = study.arms.front().state.name;
  trial.extra = study.arms.front().extra;
  trial.timing.first_token_ms = first_token_ms;
  return trial;
}

TEST(IdleStudy, NamesPausesAndHowTheyComeAbout) {
  const Study study = idle_study(usual_pauses(), Pausing::kInjected);
  ASSERT_EQ(study.arms.size(), 5U);
  EXPECT_EQ(study.arms[2].state.name, "10 min, injected");
  EXPECT_EQ(study.arms[4].state.name, "8 h, injected");
  EXPECT_EQ(study.arms[4].extra.at("gap_s"), 8 * 3600);
  EXPECT_EQ(idle_study({minutes{1}}, Pausing::kReal).arms[0].state.name, "1 min, real");
}

TEST(IdleForecasts, ComparePausesOfEachSide) {
  std::vector<Trial> rows;
  for (const double ms : {10.0, 11.0, 12.0}) {
    rows.push_back(row("hearth", 10, Pausing::kInjected, ms));
    rows.push_back(row("hearth", 10, Pausing::kReal, ms + 1));
    rows.push_back(row("ollama", 10, Pausing::kInjected, 100 * ms));
    rows.push_back(row("ollama", 10, Pausing::kReal, 50 * ms));
    rows.push_back(row("ollama", 1, Pausing::kInjected, 9));
  }
  const std::vector<IdleForecast> forecasts = idle_forecasts(rows);
  ASSERT_EQ(forecasts.size(), 3U);
  EXPECT_EQ(forecasts[0].side, "hearth");
  EXPECT_EQ(forecasts[0].pause, "10 min");
  EXPECT_NEAR(forecasts[0].error().value(), 11.0 / 12 - 1, 1e-9);
  EXPECT_EQ(forecasts[1].pause, "1 min") << "shorter pauses first";
  EXPECT_FALSE(forecasts[1].error()) << "nothing was waited out";
  EXPECT_NEAR(forecasts[2].error().value(), 1.0, 1e-9);
}

TEST(IdleForecasts, LeaveOutWhatDoesNotCount) {
  std::vector<Trial> rows{row("hearth", 1, Pausing::kInjected, 10),
                          row("hearth", 1, Pausing::kInjected, 999)};
  rows[1].flags.push_back("busy: others used 1.2 cores");
  const std::vector<IdleForecast> forecasts = idle_forecasts(rows);
  ASSERT_EQ(forecasts.size(), 1U);
  EXPECT_EQ(forecasts[0].foretold_ms->middle, 10);
  EXPECT_EQ(forecasts[0].foretold_ms->count, 1);
}

TEST(IdleForecasts, AsJson) {
  const std::vector<Trial> rows{row("hearth", 1, Pausing::kInjected, 10),
                                row("hearth", 1, Pausing::kReal, 10)};
  const std::string json = to_json(idle_forecasts(rows));
  EXPECT_THAT(json, testing::HasSubstr("\"within\":true"));
  EXPECT_THAT(json, testing::HasSubstr("\"pause\":\"1 min\""));
}

TEST(IdleRecords, HoldTheMediansOfAllColumns) {
  std::vector<Trial> rows;
  for (const double ms : {1.0, 2.0, 6.0}) {
    Trial trial = row("hearth", 0, Pausing::kInjected, 10 * ms);
    trial.before.holder_age_s = 100 * ms;
    trial.before.pages = 1.0;
    trial.before.resident = Bytes{1000};
    trial.before.told["weights"] = "resident";
    trial.effects.bytes_read = Bytes{0};
    trial.timing.stages_ms = {{"queue", ms}, {"prefill", 3 * ms}};
    rows.push_back(std::move(trial));
  }
  const std::vector<IdleRecord> records = idle_records(rows);
  ASSERT_EQ(records.size(), 1U);
  const IdleRecord& record = records[0];
  EXPECT_EQ(record.rows, 3);
  EXPECT_EQ(record.uptime_s, 200);
  EXPECT_EQ(record.queue_ms, 2);
  EXPECT_EQ(record.prefill_ms, 6);
  EXPECT_EQ(record.tokenize_ms, 0) << "a server that tells stages had none of it";
  EXPECT_EQ(record.first_token_ms, 20);
  EXPECT_EQ(record.bytes_read, 0);
  EXPECT_EQ(record.weights, "resident");
  EXPECT_FALSE(record.device) << "not observable";
  EXPECT_FALSE(record.clock_mhz);
}

TEST(IdleRecords, KnowNoStagesOfAServerThatTellsNone) {
  const std::vector<IdleRecord> records = idle_records({row("ollama", 0, Pausing::kInjected, 10)});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_FALSE(records[0].prefill_ms);
}

}  // namespace
}  // namespace hearth::lab

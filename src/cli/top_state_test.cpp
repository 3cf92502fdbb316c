// SPDX-License-Identifier: Apache-2.0
#include "cli/top_state.h"

#include <gtest/gtest.h>

#include "cli/json_fields.h"
#include "cli/model_samples.h"

namespace hearth::cli {
namespace {

using namespace std::chrono_literals;

TopMoment moment(std::chrono::milliseconds at = 0ms) {
  return {TimePoint{1h} + at, kNow, kNow - 1'000'000};
}

TopState with_a_model() {
  TopState state;
  state.models.push_back(warm_model());
  return state;
}

constexpr std::string_view kBegins =
    R"({"request_id": "r1", "model": "SmolLM2", "path": "/v1/chat/completions",
        "outcome": "running"})";
constexpr std::string_view kLoading =
    R"({"model": "smollm2:latest", "layers": {"weights": {"level": "loading", "fraction": 0.5}}})";
constexpr std::string_view kLoaded =
    R"({"model": "smollm2:latest", "layers": {"weights": {"level": "resident", "fraction": 1}}})";

TEST(TopState, ARequestComesAndGoes) {
  TopState state = with_a_model();
  state.take("request", kBegins, moment());
  state.take("request",
             R"({"request_id": "r1", "outcome": "running", "elapsed_ms": 120, "ttft_ms": 110,
                 "stages": [{"name": "prefill", "start_ms": 4, "ms": 100}]})",
             moment(200ms));
  ASSERT_EQ(state.under_way.size(), 1U);
  const TopState::UnderWay& one = state.under_way[0];
  EXPECT_EQ(one.model, "SmolLM2");
  EXPECT_EQ(one.since, TimePoint{1h} + 80ms);
  ASSERT_EQ(one.stages.size(), 2U);
  EXPECT_EQ(one.stages[1].name, "decode");
  EXPECT_FALSE(one.stages[1].ms);
  state.take("request",
             R"({"request_id": "r1", "model": "smollm2:latest", "outcome": "ok",
                 "started_us": 1700007199500000, "total_ms": 300, "ttft_ms": 110})",
             moment(300ms));
  EXPECT_TRUE(state.under_way.empty());
  ASSERT_EQ(state.recent.size(), 1U);
  EXPECT_EQ(state.waits.size(), 1U);
  EXPECT_TRUE(state.stale.memory);
  EXPECT_TRUE(state.stale.model.contains("smollm2:latest"));
}

TEST(TopState, ALoadIsSeenBeforeItsStageIsTold) {
  TopState state = with_a_model();
  state.take("request", kBegins, moment());
  state.take("levels", kLoading, moment(50ms));
  ASSERT_EQ(state.under_way[0].stages.size(), 1U);
  EXPECT_DOUBLE_EQ(state.under_way[0].stages[0].start_ms, 50);
  EXPECT_FALSE(state.under_way[0].stages[0].ms);
  state.take("levels", kLoading, moment(80ms));
  state.take("levels", kLoaded, moment(250ms));
  ASSERT_EQ(state.under_way[0].stages.size(), 1U);
  EXPECT_DOUBLE_EQ(state.under_way[0].stages[0].ms.value_or(0), 200);
}

TEST(TopState, LevelsAreTakenOver) {
  TopState state = with_a_model();
  state.take("levels", kLoading, moment());
  const auto& layers = state.models[0].at("layers").get_object();
  EXPECT_EQ(text_in(part_in(layers, "weights"), "level"), "loading");
  EXPECT_EQ(text_in(part_in(layers, "artifact"), "level"), "local");
}

TEST(TopState, SaysWhatToAskForAgain) {
  TopState state = with_a_model();
  state.take("model", R"({"models": []})", moment());
  EXPECT_TRUE(state.stale.models);
  state.take("lost", R"({"events": 3})", moment());
  EXPECT_TRUE(state.stale.everything);
  state.stale = {};
  state.take("move", R"({"model": "smollm2:latest"})", moment());
  EXPECT_TRUE(state.stale.memory);
}

TEST(TopState, NonsenseChangesNothing) {
  TopState state = with_a_model();
  for (const std::string_view data : {"", "[]", "{", "{}", R"({"layers": 3})"}) {
    for (const std::string_view type : {"levels", "tomorrow", "warmth", "services"}) {
      state.take(type, data, moment());
    }
  }
  EXPECT_EQ(state.models[0].get_object(), warm_model());
}

TEST(TopState, TodayEndsAtMidnight) {
  TopState state;
  const auto history = boost::json::parse(
      R"({"requests": [{"started_us": 1700007199500000, "total_ms": 10},
                       {"started_us": 1700007190000000, "total_ms": 20}]})");
  EXPECT_FALSE(state.add_history(history.get_object(), moment()));
  EXPECT_EQ(state.recent.size(), 2U);
  EXPECT_EQ(state.waits.size(), 1U);
}

}  // namespace
}  // namespace hearth::cli

// SPDX-License-Identifier: Apache-2.0
#include "front/live_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hearth::front {
namespace {

using std::chrono::milliseconds;

RequestReport report_with_a_read() {
  RequestReport report;
  report.request_id = "r1";
  report.model = "smollm2:latest";
  report.api = "openai";
  report.path = "/v1/chat/completions";
  report.timings.stages = {
      TimedStage{StageKind::kQueue, {}, milliseconds{4}, {}, false},
      TimedStage{StageKind::kRead, milliseconds{4}, milliseconds{30}, Bytes{4096}, true}};
  return report;
}

TEST(LiveJson, ARequestUnderWayTellsItsStages) {
  const auto event =
      boost::json::parse(request_running_json(report_with_a_read(), milliseconds{40}));
  EXPECT_EQ(event.at("outcome").as_string(), "running");
  EXPECT_EQ(event.at("elapsed_ms").to_number<double>(), 40);
  const auto& stages = event.at("stages").as_array();
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[1].at("name").as_string(), "read");
  EXPECT_EQ(stages[1].at("start_ms").to_number<double>(), 4);
  EXPECT_EQ(stages[1].at("bytes").to_number<int>(), 4096);
  EXPECT_TRUE(stages[1].at("shared").as_bool());
  EXPECT_FALSE(stages[0].as_object().contains("shared"));
  EXPECT_FALSE(event.as_object().contains("ttft_ms"));
}

TEST(LiveJson, TheFirstTokenIsToldOnceItIsThere) {
  RequestReport report = report_with_a_read();
  report.time_to_first_token = milliseconds{38};
  const auto event = boost::json::parse(request_running_json(report, milliseconds{40}));
  EXPECT_EQ(event.at("ttft_ms").to_number<double>(), 38);
}

}  // namespace
}  // namespace hearth::front

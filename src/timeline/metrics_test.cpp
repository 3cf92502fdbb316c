// SPDX-License-Identifier: Apache-2.0
#include "timeline/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "base/log.h"

namespace hearth {
namespace {

using namespace literals;
using std::chrono::milliseconds;

// Reads the text format: sample -> value. Fails the test on a line that is none, on a sample
// without HELP and TYPE before it, and on a name that is not ours.
std::map<std::string, double> parsed(const std::string& text) {
  static const std::regex sample{
      R"re((hearth_[a-z0-9_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})? ([^ ]+))re"};
  static const std::regex comment{R"(# (HELP|TYPE) (hearth_[a-z0-9_]+) (.+))"};
  std::map<std::string, double> samples;
  std::string described;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, comment)) {
      described = match[2];
    } else if (std::regex_match(line, match, sample)) {
      EXPECT_EQ(match[1].str().rfind(described, 0), 0U) << line;
      samples[match[1].str() + match[2].str()] = std::strtod(match[3].str().c_str(), nullptr);
    } else {
      ADD_FAILURE() << "not in the text format: " << line;
    }
  }
  return samples;
}

RequestReport warm_report() {
  RequestReport report;
  report.model = "tiny";
  report.api = "openai";
  report.response_class = ResponseClass::kWarm;
  report.timings.total = milliseconds{300};
  report.timings.stages = {{.kind = StageKind::kPrefill, .length = milliseconds{40}}};
  report.time_to_first_token = milliseconds{60};
  report.prompt_tokens = 100;
  report.cached_tokens = 64;
  report.generated_tokens = 20;
  report.bytes_read = Bytes{4096};
  return report;
}

class MetricsTest : public testing::Test {
 protected:
  double value(const std::string& sample) {
    const auto samples = parsed(metrics_.text());
    const auto found = samples.find(sample);
    return found == samples.end() ? -1.0 : found->second;
  }

  Metrics metrics_{{.version = "0.1.0", .engine = "engine 1"}};
};

TEST_F(MetricsTest, StartAsValidTextWithAllPlainCountersAtZero) {
  const auto samples = parsed(metrics_.text());
  for (const char* name : {"hearth_prompt_tokens_total", "hearth_prompt_tokens_cached_total",
                           "hearth_generated_tokens_total", "hearth_bytes_read_total",
                           "hearth_worker_deaths_total", "hearth_worker_restarts_total",
                           "hearth_requests_cancelled_total", "hearth_requests_retried_total",
                           "hearth_queue_rejected_total", "hearth_event_subscribers"}) {
    ASSERT_TRUE(samples.contains(name)) << name;
    EXPECT_EQ(samples.at(name), 0) << name;
  }
  EXPECT_EQ(value(R"(hearth_build_info{engine="engine 1",version="0.1.0"})"), 1);
}

TEST_F(MetricsTest, ObserveCountsARequestOnce) {
  metrics_.observe(warm_report());
  EXPECT_EQ(value(R"(hearth_requests_total{api="openai",class="warm",model="tiny",outcome="ok"})"),
            1);
  EXPECT_EQ(value(R"(hearth_ttft_seconds_count{class="warm"})"), 1);
  EXPECT_EQ(value(R"(hearth_ttft_seconds_bucket{class="warm",le="0.05"})"), 0);
  EXPECT_EQ(value(R"(hearth_ttft_seconds_bucket{class="warm",le="0.1"})"), 1);
  EXPECT_DOUBLE_EQ(value(R"(hearth_total_seconds_sum{class="warm"})"), 0.3);
  EXPECT_DOUBLE_EQ(value(R"(hearth_stage_seconds_sum{stage="prefill"})"), 0.04);
  EXPECT_EQ(value(R"(hearth_stage_seconds_count{stage="read"})"), -1);
  EXPECT_EQ(value("hearth_prompt_tokens_total"), 100);
  EXPECT_EQ(value("hearth_prompt_tokens_cached_total"), 64);
  EXPECT_EQ(value("hearth_generated_tokens_total"), 20);
  EXPECT_EQ(value("hearth_bytes_read_total"), 4096);
}

TEST_F(MetricsTest, JoinedLoadIsReadOnce) {
  RequestReport joined = warm_report();
  joined.timings.shared = true;
  metrics_.observe(joined);
  EXPECT_EQ(value("hearth_bytes_read_total"), 0);
  metrics_.read_outside_requests(1_MiB);
  EXPECT_EQ(value("hearth_bytes_read_total"), 1 << 20);
}

TEST_F(MetricsTest, FailuresAreInNoLatency) {
  RequestReport failed;
  failed.api = "openai";
  failed.outcome = Outcome::kError;
  metrics_.observe(failed);
  RequestReport cancelled = warm_report();
  cancelled.outcome = Outcome::kCancelled;
  metrics_.observe(cancelled);
  EXPECT_EQ(
      value(R"(hearth_requests_total{api="openai",class="none",model="none",outcome="error"})"), 1);
  EXPECT_EQ(value("hearth_requests_cancelled_total"), 1);
  EXPECT_EQ(value(R"(hearth_total_seconds_count{class="warm"})"), -1);
}

TEST_F(MetricsTest, NamedEventsCount) {
  metrics_.model_loaded("tiny");
  metrics_.worker_died();
  metrics_.worker_restarted();
  metrics_.request_retried();
  metrics_.queue_rejected();
  EXPECT_EQ(value(R"(hearth_loads_total{model="tiny"})"), 1);
  for (const char* name : {"hearth_worker_deaths_total", "hearth_worker_restarts_total",
                           "hearth_requests_retried_total", "hearth_queue_rejected_total"}) {
    EXPECT_EQ(value(name), 1) << name;
  }
}

TEST_F(MetricsTest, GaugesFollowAndGoWithTheirModel) {
  metrics_.set_queue_depth("tiny", 3);
  metrics_.set_queue_depth("tiny", 2);
  metrics_.set_active_requests("tiny", 4);
  metrics_.set_event_subscribers(5);
  metrics_.set_layer("tiny", {.layer = "pages", .fraction = 0.5, .bytes = 1_MiB});
  EXPECT_EQ(value(R"(hearth_queue_depth{model="tiny"})"), 2);
  EXPECT_EQ(value(R"(hearth_active_requests{model="tiny"})"), 4);
  EXPECT_EQ(value("hearth_event_subscribers"), 5);
  EXPECT_EQ(value(R"(hearth_layer_bytes{layer="pages",model="tiny"})"), 1 << 20);
  EXPECT_EQ(value(R"(hearth_layer_ratio{layer="pages",model="tiny"})"), 0.5);
  metrics_.forget_model("tiny");
  metrics_.forget_model("never seen");
  EXPECT_THAT(metrics_.text(), testing::Not(testing::HasSubstr("tiny")));
}

TEST_F(MetricsTest, ModelsBeyondTheBoundShareALabel) {
  for (int i = 0; i < Metrics::kMaxModels + 10; ++i) metrics_.model_loaded(std::to_string(i));
  EXPECT_EQ(value(R"(hearth_loads_total{model="other"})"), 10);
  EXPECT_EQ(value(R"(hearth_loads_total{model="0"})"), 1);
}

TEST_F(MetricsTest, LabelsAreEscaped) {
  metrics_.model_loaded("a\"b\\c\nd");
  EXPECT_EQ(value("hearth_loads_total{model=\"a\\\"b\\\\c\\nd\"}"), 1);
}

TEST_F(MetricsTest, LogWarningsShow) {
  log::warn("metrics_test.happened");
  const std::string sample = R"(hearth_log_warnings_total{event="metrics_test.happened"})";
  const double before = value(sample);
  EXPECT_GE(before, 1);
  log::warn("metrics_test.happened");
  EXPECT_EQ(value(sample), before + 1);
  EXPECT_EQ(value(sample), before + 1);
}

}  // namespace
}  // namespace hearth

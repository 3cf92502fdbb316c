// SPDX-License-Identifier: Apache-2.0
#include "timeline/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace hearth {
namespace {

using namespace literals;
using std::chrono::milliseconds;

// The end of the label set at the head of `text` ("" has none), npos when it is malformed. By hand:
// g++ 12 warns inside std::regex under the sanitizers.
std::size_t labels_end(std::string_view text) {
  if (!text.starts_with('{')) return 0;
  std::size_t at = 1;
  while (at < text.size() && text[at] != '}') {
    const std::size_t equals = text.find("=\"", at);
    if (equals == std::string_view::npos) return equals;
    for (at = equals + 2; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
    }
    ++at;
    if (at < text.size() && text[at] == ',') ++at;
  }
  return at < text.size() ? at + 1 : std::string_view::npos;
}

std::string_view name_at_head(std::string_view text) {
  return text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"));
}

// One line "name{labels} value" into `sample -> value`; nullopt when it is no such line.
std::optional<std::pair<std::string, double>> sample_in(const std::string& line) {
  const std::size_t name = name_at_head(line).size();
  const std::size_t labels = labels_end(std::string_view{line}.substr(name));
  if (labels == std::string_view::npos || name == 0) return std::nullopt;
  const std::size_t key = name + labels;
  char* end = nullptr;
  const double value = std::strtod(line.c_str() + key, &end);
  const bool whole = line.size() > key + 1 && line[key] == ' ' && *end == '\0';
  return whole ? std::optional{std::pair{line.substr(0, key), value}} : std::nullopt;
}

// Reads the text format: sample -> value. Fails the test on a line that is none, on a sample
// without HELP and TYPE before it, and on a name that is not ours.
std::map<std::string, double> parsed(const std::string& text) {
  std::map<std::string, double> samples;
  std::string described = "nothing yet";
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP hearth_") || line.starts_with("# TYPE hearth_")) {
      described = name_at_head(std::string_view{line}.substr(7));
    } else if (const auto sample = sample_in(line)) {
      EXPECT_TRUE(line.starts_with(described)) << line;
      samples.insert(*sample);
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
                           "hearth_generation_tokens_total", "hearth_bytes_read_total",
                           "hearth_worker_deaths_total", "hearth_worker_restarts_total",
                           "hearth_requests_cancelled_total", "hearth_requests_retried_total",
                           "hearth_queue_rejected_total", "hearth_event_subscribers"}) {
    ASSERT_TRUE(samples.contains(name)) << name;
    EXPECT_EQ(samples.at(name), 0) << name;
  }
  EXPECT_EQ(value(R"(hearth_build_info{engine="engine 1",version="0.1.0"})"), 1);
}

TEST(MetricsText, ReaderRefusesWhatIsNoSample) {
  for (const char* line :
       {"", "hearth_a", "hearth_a{b=\"c\"", "hearth_a{b} 1", "hearth_a x", "1"}) {
    EXPECT_EQ(sample_in(line), std::nullopt) << line;
  }
  EXPECT_EQ(sample_in("hearth_a{b=\"c\"} 1")->second, 1);
}

TEST_F(MetricsTest, ForecastsAreHeldToWhatCame) {
  metrics_.forecast_met("load-cold", -0.12);
  metrics_.forecast_met("load-cold", 0.4);
  EXPECT_EQ(value(R"(hearth_predictor_error_ratio_count{class="load-cold"})"), 2);
  EXPECT_EQ(value(R"(hearth_predictor_error_ratio_bucket{class="load-cold",le="0.15"})"), 1);
  EXPECT_DOUBLE_EQ(value(R"(hearth_predictor_error_ratio_sum{class="load-cold"})"), 0.52);
}

TEST_F(MetricsTest, ObserveCountsARequestOnce) {
  metrics_.observe(warm_report());
  EXPECT_EQ(value(R"(hearth_requests_total{api="openai",class="warm",model="tiny",outcome="ok"})"),
            1);
  EXPECT_EQ(value(R"(hearth_time_to_first_token_seconds_count{class="warm"})"), 1);
  EXPECT_EQ(value(R"(hearth_time_to_first_token_seconds_bucket{class="warm",le="0.05"})"), 0);
  EXPECT_EQ(value(R"(hearth_time_to_first_token_seconds_bucket{class="warm",le="0.1"})"), 1);
  EXPECT_DOUBLE_EQ(value(R"(hearth_e2e_request_latency_seconds_sum{class="warm"})"), 0.3);
  EXPECT_DOUBLE_EQ(value(R"(hearth_stage_seconds_sum{class="warm",stage="prefill"})"), 0.04);
  EXPECT_EQ(value(R"(hearth_stage_seconds_count{class="warm",stage="read"})"), -1);
  EXPECT_EQ(value("hearth_prompt_tokens_total"), 100);
  EXPECT_EQ(value("hearth_prompt_tokens_cached_total"), 64);
  EXPECT_EQ(value("hearth_generation_tokens_total"), 20);
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
  EXPECT_EQ(value(R"(hearth_e2e_request_latency_seconds_count{class="warm"})"), -1);
}

TEST_F(MetricsTest, LoadsAndCountsAreRequestsButNoReplies) {
  RequestReport load = warm_report();
  load.kind = RequestKind::kLoad;
  load.response_class = ResponseClass::kLoadCold;
  metrics_.observe(load);
  RequestReport counted = warm_report();
  counted.kind = RequestKind::kCount;
  counted.response_class.reset();
  metrics_.observe(counted);
  EXPECT_EQ(
      value(R"(hearth_requests_total{api="openai",class="load-cold",model="tiny",outcome="ok"})"),
      1);
  EXPECT_EQ(value(R"(hearth_requests_total{api="openai",class="none",model="tiny",outcome="ok"})"),
            1);
  EXPECT_EQ(value(R"(hearth_stage_seconds_count{class="load-cold",stage="prefill"})"), 1);
  EXPECT_EQ(value(R"(hearth_stage_seconds_count{class="none",stage="prefill"})"), 1);
  EXPECT_EQ(value(R"(hearth_request_prefill_time_seconds_count{model="tiny"})"), -1);
  EXPECT_EQ(value(R"(hearth_time_to_first_token_seconds_count{class="load-cold"})"), -1);
  EXPECT_EQ(value(R"(hearth_e2e_request_latency_seconds_count{class="load-cold"})"), -1);
  EXPECT_EQ(value("hearth_prompt_tokens_total"), 0);
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
  metrics_.auth_failed("missing");
  metrics_.auth_failed("missing");
  metrics_.auth_failed("role");
  EXPECT_EQ(value(R"(hearth_auth_failures_total{reason="missing"})"), 2);
  EXPECT_EQ(value(R"(hearth_auth_failures_total{reason="role"})"), 1);
}

TEST_F(MetricsTest, GaugesFollowAndGoWithTheirModel) {
  metrics_.set_requests("tiny", {.waiting = 3, .running = 1});
  metrics_.set_requests("tiny", {.waiting = 2, .running = 4, .cells = 200, .cells_used = 50});
  metrics_.set_event_subscribers(5);
  metrics_.set_layer("tiny",
                     {.layer = "pages", .level = "resident", .fraction = 0.5, .bytes = 1_MiB});
  EXPECT_EQ(value(R"(hearth_num_requests_waiting{model="tiny"})"), 2);
  EXPECT_EQ(value(R"(hearth_num_requests_running{model="tiny"})"), 4);
  EXPECT_EQ(value(R"(hearth_kv_cache_usage_perc{model="tiny"})"), 0.25);
  EXPECT_EQ(value("hearth_event_subscribers"), 5);
  EXPECT_EQ(value(R"(hearth_layer_bytes{layer="pages",model="tiny"})"), 1 << 20);
  EXPECT_EQ(value(R"(hearth_layer_ratio{layer="pages",model="tiny"})"), 0.5);
  metrics_.forget_model("tiny");
  metrics_.forget_model("never seen");
  EXPECT_THAT(metrics_.text(), testing::Not(testing::HasSubstr("tiny")));
}

TEST_F(MetricsTest, ALayerIsAtOneLevel) {
  metrics_.set_layer("tiny", {.layer = "weights", .level = "none"});
  metrics_.set_layer("tiny", {.layer = "weights", .level = "resident"});
  EXPECT_EQ(value(R"(hearth_layer_level{layer="weights",level="resident",model="tiny"})"), 1);
  EXPECT_EQ(value(R"(hearth_layer_level{layer="weights",level="none",model="tiny"})"), -1);
}

TEST_F(MetricsTest, MemoryShowsByHolder) {
  const MemoryFigures devices{.memory = "devices"};
  MemoryFigures machine{.memory = "machine", .limit = 8_MiB, .promised = 1_MiB};
  machine.held = {{"weights", "tiny", 2_MiB}, {"weights", "tiny", 1_MiB}, {"prefix", "", 1_MiB}};
  metrics_.set_memory({machine, devices});
  const std::string weights =
      R"(hearth_memory_held_bytes{memory="machine",model="tiny",what="weights"})";
  EXPECT_EQ(value(weights), 3 << 20);
  EXPECT_EQ(value(R"(hearth_memory_limit_bytes{memory="machine"})"), 8 << 20);
  EXPECT_EQ(value(R"(hearth_memory_limit_bytes{memory="devices"})"), -1);
  EXPECT_EQ(value(R"(hearth_memory_promised_bytes{memory="machine"})"), 1 << 20);
  machine.held.erase(machine.held.begin(), machine.held.begin() + 2);
  metrics_.set_memory({machine, devices});
  EXPECT_EQ(value(weights), -1);
  EXPECT_EQ(value(R"(hearth_memory_held_bytes{memory="machine",model="none",what="prefix"})"),
            1 << 20);
}

TEST_F(MetricsTest, HttpAnswersCountByRouteAndStatus) {
  metrics_.http_answered({"GET", "/api/hearth/models/{rest}", 200, milliseconds{40}});
  metrics_.http_answered({"GET", "/api/hearth/models/{rest}", 404, milliseconds{2}});
  metrics_.http_answered({"other", "other", 400});
  const std::string labels = R"({method="GET",route="/api/hearth/models/{rest}")";
  EXPECT_EQ(value("hearth_http_requests_total" + labels + ",status=\"404\"}"), 1);
  EXPECT_EQ(value("hearth_http_request_duration_seconds_count" + labels + "}"), 2);
  EXPECT_DOUBLE_EQ(value("hearth_http_request_duration_seconds_sum" + labels + "}"), 0.042);
  EXPECT_EQ(value(R"(hearth_http_requests_total{method="other",route="other",status="400"})"), 1);
}

TEST_F(MetricsTest, PhasesAreByModel) {
  RequestReport report = warm_report();
  report.timings.queued = milliseconds{5};
  report.prefill = milliseconds{40};
  report.decode = milliseconds{190};
  metrics_.observe(report);
  const std::string tiny = R"({model="tiny"})";
  EXPECT_DOUBLE_EQ(value("hearth_request_queue_time_seconds_sum" + tiny), 0.005);
  EXPECT_DOUBLE_EQ(value("hearth_request_prefill_time_seconds_sum" + tiny), 0.04);
  EXPECT_DOUBLE_EQ(value("hearth_request_decode_time_seconds_sum" + tiny), 0.19);
  EXPECT_DOUBLE_EQ(value("hearth_request_time_per_output_token_seconds_sum" + tiny), 0.01);
  report.outcome = Outcome::kCancelled;
  metrics_.observe(report);
  EXPECT_EQ(value("hearth_request_prefill_time_seconds_count" + tiny), 2);
  EXPECT_EQ(value("hearth_request_decode_time_seconds_count" + tiny), 1);
}

TEST_F(MetricsTest, GaugesAreBroughtUpToDateForAReader) {
  int asked = 0;
  metrics_.before_text([this, &asked] { metrics_.set_event_subscribers(++asked); });
  EXPECT_EQ(value("hearth_event_subscribers"), 1);
  EXPECT_EQ(value("hearth_event_subscribers"), 2);
}

TEST_F(MetricsTest, FamiliesWithoutASampleAreDescribed) {
  EXPECT_THAT(metrics_.text(), testing::HasSubstr("# TYPE hearth_moves_total counter\n"));
  EXPECT_EQ(parsed(metrics_.text()).count("hearth_moves_total"), 0U);
}

TEST_F(MetricsTest, PromptTokensCountByWhereTheirStateWas) {
  RequestReport report = warm_report();
  metrics_.observe(report);
  EXPECT_EQ(value("hearth_prefix_cache_queries_total"), 0) << "it was to keep nothing";
  report.prefix.emplace();
  report.prefix->live = 16;
  report.prefix->disk = 48;
  metrics_.observe(report);
  EXPECT_EQ(value(R"(hearth_prefix_cache_hits_total{tier="live"})"), 16);
  EXPECT_EQ(value(R"(hearth_prefix_cache_hits_total{tier="memory"})"), 0);
  EXPECT_EQ(value(R"(hearth_prefix_cache_hits_total{tier="disk"})"), 48);
  EXPECT_EQ(value("hearth_prefix_cache_queries_total"), 100);
}

TEST_F(MetricsTest, KeptPromptStateShows) {
  PrefixFigures figures;
  figures.memory = {1_MiB, 3, 2, 0};
  figures.disk = {2_MiB, 5, 0, 1.5e9};
  figures.refused = {{"checksum", 1}, {"open /a: denied", 2}, {"open /b: denied", 3}};
  figures.saved_seconds = 2.5;
  figures.written_today = 7_MiB;
  metrics_.set_prefix(figures);
  EXPECT_EQ(value(R"(hearth_prefix_bytes{tier="memory"})"), 1 << 20);
  EXPECT_EQ(value(R"(hearth_prefix_blocks{tier="disk"})"), 5);
  EXPECT_EQ(value(R"(hearth_prefix_evicted_blocks_total{tier="memory"})"), 2);
  EXPECT_EQ(value(R"(hearth_prefix_refused_blocks_total{reason="checksum"})"), 1);
  EXPECT_EQ(value(R"(hearth_prefix_refused_blocks_total{reason="unreadable"})"), 5);
  EXPECT_EQ(value(R"(hearth_prefix_restore_bytes_per_second{tier="memory"})"), -1);
  EXPECT_EQ(value(R"(hearth_prefix_restore_bytes_per_second{tier="disk"})"), 1.5e9);
  EXPECT_EQ(value("hearth_prefix_saved_seconds_total"), 2.5);
  EXPECT_EQ(value("hearth_prefix_written_bytes_total"), 0) << "before the start";
  figures.written_today = 9_MiB;
  metrics_.set_prefix(figures);
  figures.written_today = 1_MiB;  // of the next day
  figures.memory.evicted = 4;
  metrics_.set_prefix(figures);
  EXPECT_EQ(value("hearth_prefix_written_bytes_total"), 3 << 20);
  EXPECT_EQ(value(R"(hearth_prefix_evicted_blocks_total{tier="memory"})"), 4);
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

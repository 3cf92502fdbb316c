// SPDX-License-Identifier: Apache-2.0
#include "timeline/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <limits>
#include <string>

#include "base/json.h"
#include "timeline/json_writer.h"

namespace hearth {
namespace {

using namespace literals;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

Timings cold_timings() {
  Timeline timeline;
  const TimePoint first{std::chrono::hours{1}};
  timeline.begin(first);
  timeline.add(
      {.kind = StageKind::kQueue, .start = first, .end = first + microseconds{400}, .bytes = {}});
  timeline.add({.kind = StageKind::kRead,
                .start = first + microseconds{1200},
                .end = first + microseconds{302'200},
                .bytes = Bytes{253'113'024}});
  timeline.add({.kind = StageKind::kLoad,
                .start = first + microseconds{1200},
                .end = first + microseconds{411'200},
                .bytes = {}});
  timeline.finish(first + milliseconds{500});
  return timeline.timings();
}

RequestReport cold_report() {
  RequestReport report;
  report.request_id = "req-1";
  report.model = "tiny";
  report.api = "openai";
  report.path = "/v1/chat/completions?q=secret";
  report.status = 200;
  report.started_wall_us = 1'700'000'000'000'000;
  report.response_class = ResponseClass::kLoadCold;
  report.timings = cold_timings();
  report.before.artifact = {"artifact", "verified", 1.0, 241_MiB, 241_MiB, ""};
  report.before.weights = {"weights", "hollow", 0.0, Bytes{}, 241_MiB, "vocabulary only"};
  report.before.worker_uptime_ms = 5000;
  report.before.cpu_pressure = 1.25;
  report.avoided.artifact = Saving{.bytes = 241_MiB};
  report.avoided.prefix = Saving{.time = microseconds{1500}, .tokens = 64};
  report.verdict = Verdict{.code = VerdictCode::kWeightsIdle,
                           .layer = "weights",
                           .cost = milliseconds{410},
                           .remedy = "r",
                           .text = "t"};
  report.prompt_tokens = 100;
  report.cached_tokens = 64;
  report.generated_tokens = 11;
  report.time_to_first_token = milliseconds{420};
  report.prefill = milliseconds{5};
  report.decode = milliseconds{50};
  return report;
}

constexpr const char* kGolden =
    R"({"request_id":"req-1","class":"load-cold","cold_layer":"weights","shared":false,)"
    R"("queued_ms":0.4,"total_ms":500,"overlap_ms":301,"other_ms":89.6,)"
    R"("stages":[{"name":"queue","start_ms":0,"ms":0.4},)"
    R"({"name":"read","start_ms":1.2,"ms":301,"bytes":253113024},)"
    R"({"name":"load","start_ms":1.2,"ms":410}],)"
    R"("before":{)"
    R"("artifact":{"level":"verified","fraction":1,"bytes":252706816,"total_bytes":252706816},)"
    R"("pages":{"level":"absent","fraction":0,"bytes":0,"total_bytes":0},)"
    R"("weights":{"level":"hollow","fraction":0,"bytes":0,"total_bytes":252706816,)"
    R"("detail":"vocabulary only"},)"
    R"("compiled":{"level":"none","fraction":0,"bytes":0,"total_bytes":0},)"
    R"("prefix":{"level":"none","fraction":0,"bytes":0,"total_bytes":0},)"
    R"("worker":{"uptime_ms":5000,"resident_bytes":0,"anonymous_bytes":0,"device_bytes":0},)"
    R"("pressure":{"cpu":1.25,"memory":0}},)"
    R"("avoided":{"artifact":{"bytes":252706816},"prefix":{"ms":1.5,"tokens":64}},)"
    R"("verdict":{"code":"weights.idle","layer":"weights","cost_ms":410,"remedy":"r","text":"t"}})";

TEST(Report, GoldenJson) { EXPECT_EQ(to_json(cold_report()), kGolden); }

TEST(Report, HistoryJsonIsASuperset) {
  const std::string json = to_history_json(cold_report());
  const std::string golden{kGolden};
  EXPECT_THAT(json, StartsWith(golden.substr(0, golden.size() - 1)));
  EXPECT_EQ(
      json.substr(golden.size() - 1),
      R"(,"model":"tiny","api":"openai","path":"/v1/chat/completions","status":200,)"
      R"("outcome":"ok","started_us":1700000000000000,"prompt_tokens":100,"cached_tokens":64,)"
      R"("generated_tokens":11,"ttft_ms":420,"prefill_ms":5,"decode_ms":50,"tokens_per_s":200,)"
      R"("bytes_read":0,"major_faults":0})");
  EXPECT_TRUE(parse_json(json));
}

TEST(Report, WarmHasNeitherColdLayerNorVerdict) {
  RequestReport report = cold_report();
  report.response_class = ResponseClass::kWarm;
  report.verdict.reset();
  const auto json = parse_json(to_json(report));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("class").as_string(), "warm");
  EXPECT_FALSE(json->as_object().contains("cold_layer"));
  EXPECT_FALSE(json->as_object().contains("verdict"));
}

TEST(Report, EmptyOneIsJsonAndClaimsNoClass) {
  const auto json = parse_json(to_history_json(RequestReport{}));
  ASSERT_TRUE(json);
  EXPECT_TRUE(json->at("class").is_null());
  EXPECT_TRUE(json->at("stages").as_array().empty());
}

TEST(Report, VerdictOutsideTheLayersHasANullLayer) {
  RequestReport report = cold_report();
  report.verdict = Verdict{.code = VerdictCode::kQueueBusy};
  EXPECT_THAT(to_json(report), HasSubstr(R"("verdict":{"code":"queue.busy","layer":null,)"));
}

TEST(Report, SaysWhatAPromptLostAndIsSilentOtherwise) {
  RequestReport report;
  EXPECT_THAT(to_json(report), testing::Not(HasSubstr("truncated")));
  report.dropped_messages = 2;
  report.dropped_tokens = 117;
  EXPECT_THAT(to_json(report), HasSubstr(R"("truncated":{"messages":2,"tokens":117})"));
}

TEST(Report, SaysWhatIsWantedOfAFirstTokenAndCannotBeHad) {
  RequestReport report = cold_report();
  EXPECT_THAT(to_json(report), testing::Not(HasSubstr(R"("warm":)")));
  report.warm_bound = WarmBound{std::chrono::milliseconds{500}, std::chrono::milliseconds{3390},
                                "weights: frigate is harmed"};
  constexpr auto kWarm =
      R"("warm":{"ttft_ms":500,"bound_ms":3390,"why":"weights: frigate is harmed"})";
  EXPECT_THAT(to_json(report), HasSubstr(kWarm));
  EXPECT_THAT(to_history_json(report), HasSubstr(kWarm));
}

TEST(Report, SaysWhatCameFromEarlierPromptsAndWhereTheyPart) {
  RequestReport report;
  EXPECT_THAT(to_json(report), testing::Not(HasSubstr("restored_bytes")));
  PrefixUse use;
  use.live = 64;
  use.disk = 128;
  use.restored = 4_MiB;
  use.miss = PrefixUse::Miss{VerdictCode::kPrefixDiverged, 192,
                             PrefixUse::Difference{700, "Monday", "Tues\"day"}};
  report.prefix = use;
  EXPECT_THAT(to_json(report),
              HasSubstr(R"x("prefix":{"live":64,"memory":0,"disk":128,"restored_bytes":4194304,)x"
                        R"x("miss":{"reason":"diverged","position":192,"character":700,)x"
                        R"x("had":"Monday","has":"Tues\"day",)x"
                        R"x("text":"prefix miss at token 192 (char 700)"}})x"));
  const std::string kept = to_history_json(report);
  EXPECT_THAT(kept, HasSubstr(R"x("text":"prefix miss at token 192 (char 700)")x"));
  EXPECT_THAT(kept, testing::Not(testing::AnyOf(HasSubstr("Monday"), HasSubstr("Tues"))));
}

TEST(Report, NamesModulesAndWhyNothingCanBeRestored) {
  RequestReport report;
  report.prefix.emplace();
  report.prefix->miss = PrefixUse::Miss{VerdictCode::kPrefixNotRestorable, 7, std::nullopt};
  report.prefix->not_restorable = "recurrent";
  report.prefix->approximate = 3;
  report.prefix->normalised = 2;
  report.prefix->modules = {{"house", "v1", 80}, {"tools", "v2", 90}};
  EXPECT_THAT(to_json(report),
              HasSubstr(R"("restored_bytes":0,"approximate":3,"miss":{"reason":"not_restorable",)"
                        R"("position":7,"text":"prefix miss at token 7"},)"
                        R"("not_restorable":"recurrent","normalised":2,)"
                        R"("modules":[{"name":"house","version":"v1","tokens":80},)"
                        R"({"name":"tools","version":"v2","tokens":90}]})"));
}

TEST(Report, HistoryNamesTheKeyAndNoDirectory) {
  RequestReport report;
  EXPECT_THAT(to_history_json(report), testing::Not(HasSubstr("\"key\"")));
  report.key = "k3y";
  report.message = "open /home/ada/models/a.gguf: permission denied";
  EXPECT_THAT(to_history_json(report), HasSubstr(R"("key":"k3y")"));
  EXPECT_THAT(to_history_json(report), HasSubstr(R"("message":"open a.gguf: permission denied")"));
}

TEST(Report, MarksSharedStages) {
  RequestReport report;
  report.timings.shared = true;
  report.timings.stages = {{.kind = StageKind::kLoad, .length = milliseconds{1}, .shared = true}};
  EXPECT_THAT(to_json(report),
              HasSubstr(R"("stages":[{"name":"load","start_ms":0,"ms":1,"shared":true}])"));
}

TEST(Report, BrokenAndLongTextStaysJsonAndShort) {
  RequestReport report;
  report.outcome = Outcome::kError;
  report.message = "bad \xFF \" \n " + std::string(5000, 'x') + "\xC3\xA9";
  report.path = "/" + std::string(5000, 'y');
  const std::string json = to_history_json(report);
  EXPECT_TRUE(parse_json(json));
  EXPECT_LT(json.size(), 2500U);
  EXPECT_THAT(json, HasSubstr(R"("outcome":"error","message":"bad )"));
}

TEST(Report, ServerTimingHasOneEntryForEachKind) {
  RequestReport report = cold_report();
  EXPECT_EQ(server_timing(report), "queue;dur=0.4, read;dur=301, load;dur=410");
  EXPECT_EQ(server_timing(RequestReport{}), "");
}

TEST(Report, RateLeavesTheFirstTokenOut) {
  RequestReport report;
  report.generated_tokens = 1;
  report.decode = milliseconds{100};
  EXPECT_EQ(tokens_per_second(report), std::nullopt);
  report.generated_tokens = 3;
  EXPECT_DOUBLE_EQ(*tokens_per_second(report), 20.0);
  report.decode = {};
  EXPECT_EQ(tokens_per_second(report), std::nullopt);
}

struct NumberCase {
  double value;
  const char* text;
};

TEST(JsonNumbers, HaveAtMostThreeDecimals) {
  constexpr NumberCase kCases[] = {{0, "0"},
                                   {812, "812"},
                                   {0.4, "0.4"},
                                   {12.3456, "12.346"},
                                   {-0.0001, "0"},
                                   {100, "100"},
                                   {1e12, "1000000000000"},
                                   {0.9996, "1"}};
  for (const NumberCase& c : kCases) EXPECT_EQ(three_decimals(c.value), c.text);
  EXPECT_EQ(JsonWriter{}.number("n", std::numeric_limits<double>::infinity()).object(),
            R"({"n":null})");
}

}  // namespace
}  // namespace hearth

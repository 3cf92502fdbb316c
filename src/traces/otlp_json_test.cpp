// SPDX-License-Identifier: Apache-2.0
#include "traces/otlp_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "timeline/response_class.h"

namespace hearth::traces {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

RequestReport report() {
  RequestReport report;
  report.request_id = "r1";
  report.model = "tiny:latest";
  report.api = "openai";
  report.path = "/v1/chat/completions";
  report.status = 200;
  report.response_class = ResponseClass::kLoadCold;
  report.verdict = Verdict{.code = VerdictCode::kWeightsIdle,
                           .layer = "weights",
                           .cost = 400ms,
                           .remedy = "keep it",
                           .text = "t"};
  report.prompt_tokens = 100;
  report.cached_tokens = 64;
  report.generated_tokens = 11;
  report.time_to_first_token = 420ms;
  report.bytes_read = Bytes{7};
  const TimePoint first{1h};
  Timeline timeline;
  timeline.begin(first);
  timeline.add({.kind = StageKind::kLoad, .start = first - 5ms, .end = first + 400ms, .bytes = {}});
  timeline.add(
      {.kind = StageKind::kRead, .start = first + 1ms, .end = first + 301ms, .bytes = Bytes{7}});
  timeline.finish(first + 500ms);
  report.timings = timeline.timings();
  RequestTrace trace;
  trace.context = *parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03");
  trace.context.state = "a=1";
  trace.parent = parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01")->span;
  trace.first_byte_ns = 1'700'000'000'000'000'123;
  report.trace = trace;
  return report;
}

std::string encoded(const RequestReport& one) {
  Random ids{1};
  const std::vector<RequestReport> reports{one};
  return otlp_json({"hearth", "1.2", "i1"}, reports, ids);
}

boost::json::array spans_of(const std::string& text) {
  const auto all = boost::json::parse(text);
  return all.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array();
}

std::string attribute(const boost::json::value& span, std::string_view key) {
  for (const auto& one : span.at("attributes").as_array()) {
    const auto& name = one.at("key").as_string();
    if (std::string_view{name.data(), name.size()} == key)
      return boost::json::serialize(one.at("value"));
  }
  return "";
}

constexpr const char* kRoot =
    R"({"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331",)"
    R"("parentSpanId":"00f067aa0ba902b7","traceState":"a=1","flags":771,)"
    R"("name":"chat tiny:latest","kind":2,"startTimeUnixNano":"1700000000000000123",)"
    R"("endTimeUnixNano":"1700000000500000123","attributes":[)"
    R"({"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},)"
    R"({"key":"gen_ai.provider.name","value":{"stringValue":"hearth"}},)"
    R"({"key":"gen_ai.request.model","value":{"stringValue":"tiny:latest"}},)"
    R"({"key":"gen_ai.usage.input_tokens","value":{"intValue":"100"}},)"
    R"({"key":"gen_ai.usage.output_tokens","value":{"intValue":"11"}},)"
    R"({"key":"gen_ai.usage.cache_read.input_tokens","value":{"intValue":"64"}},)"
    R"({"key":"http.request.method","value":{"stringValue":"POST"}},)"
    R"({"key":"url.scheme","value":{"stringValue":"http"}},)"
    R"({"key":"url.path","value":{"stringValue":"/v1/chat/completions"}},)"
    R"({"key":"http.response.status_code","value":{"intValue":"200"}},)"
    R"({"key":"hearth.request_id","value":{"stringValue":"r1"}},)"
    R"({"key":"hearth.api","value":{"stringValue":"openai"}},)"
    R"({"key":"hearth.outcome","value":{"stringValue":"ok"}},)"
    R"({"key":"hearth.response_class","value":{"stringValue":"load-cold"}},)"
    R"({"key":"hearth.cold_layer","value":{"stringValue":"weights"}},)"
    R"({"key":"hearth.verdict.code","value":{"stringValue":"weights.idle"}},)"
    R"({"key":"hearth.verdict.cost_ms","value":{"doubleValue":4E2}},)"
    R"({"key":"hearth.verdict.remedy","value":{"stringValue":"keep it"}},)"
    R"({"key":"hearth.cached_tokens","value":{"intValue":"64"}},)"
    R"({"key":"hearth.ttft_ms","value":{"doubleValue":4.2E2}},)"
    R"({"key":"hearth.queued_ms","value":{"doubleValue":0E0}},)"
    R"({"key":"hearth.overlap_ms","value":{"doubleValue":3E2}},)"
    R"({"key":"hearth.other_ms","value":{"doubleValue":1E2}},)"
    R"({"key":"hearth.bytes_read","value":{"intValue":"7"}},)"
    R"({"key":"hearth.shared","value":{"boolValue":true}}]})";

TEST(OtlpJson, ARequestIsASpan) {
  const auto spans = spans_of(encoded(report()));
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(boost::json::serialize(spans[0]), kRoot);
}

TEST(OtlpJson, StagesAreSpansBelowIt) {
  const auto spans = spans_of(encoded(report()));
  const auto& load = spans.at(1);
  EXPECT_EQ(load.at("name"), "load");
  EXPECT_EQ(load.at("kind"), 1);
  EXPECT_EQ(load.at("flags"), 0x103);
  EXPECT_EQ(load.at("traceId"), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(load.at("parentSpanId"), "b7ad6b7169203331");
  EXPECT_EQ(load.at("startTimeUnixNano"), "1700000000000000123");
  EXPECT_EQ(load.at("endTimeUnixNano"), "1700000000400000123");
  EXPECT_EQ(attribute(load, "hearth.shared"), R"({"boolValue":true})");
  const auto& read = spans.at(2);
  EXPECT_EQ(read.at("startTimeUnixNano"), "1700000000001000123");
  EXPECT_EQ(attribute(read, "hearth.bytes"), R"({"intValue":"7"})");
  EXPECT_NE(read.at("spanId"), load.at("spanId"));
  EXPECT_EQ(read.at("spanId").as_string().size(), 16u);
}

TEST(OtlpJson, SaysWhoSends) {
  const std::string text = encoded(report());
  EXPECT_THAT(text, HasSubstr(R"({"key":"service.name","value":{"stringValue":"hearth"}})"));
  EXPECT_THAT(text, HasSubstr(R"({"key":"service.instance.id","value":{"stringValue":"i1"}})"));
  EXPECT_THAT(text, HasSubstr(R"("scope":{"name":"hearth","version":"1.2"})"));
}

TEST(OtlpJson, ATraceThatBeginsHereHasNoParent) {
  RequestReport one = report();
  one.trace->parent = {};
  one.trace->context.state.clear();
  const auto root = spans_of(encoded(one)).at(0).as_object();
  EXPECT_FALSE(root.contains("parentSpanId"));
  EXPECT_FALSE(root.contains("traceState"));
  EXPECT_EQ(root.at("flags"), 0x103);
}

TEST(OtlpJson, OnlyOurOwnFaultsAreErrors) {
  RequestReport one = report();
  one.outcome = Outcome::kError;
  one.message = "open /m/secret place/q.gguf: no such file";
  one.status = 503;
  const auto ours = spans_of(encoded(one)).at(0);
  EXPECT_EQ(ours.at("status").at("code"), 2);
  EXPECT_THAT(boost::json::serialize(ours), Not(HasSubstr("secret place")));
  EXPECT_EQ(attribute(ours, "error.type"), R"({"stringValue":"503"})");
  one.status = 404;
  const auto theirs = spans_of(encoded(one)).at(0);
  EXPECT_FALSE(theirs.as_object().contains("status"));
  EXPECT_EQ(attribute(theirs, "error.type"), R"({"stringValue":"404"})");
  one.outcome = Outcome::kCancelled;
  one.status = 499;
  const auto left = spans_of(encoded(one)).at(0);
  EXPECT_FALSE(left.as_object().contains("status"));
  EXPECT_EQ(attribute(left, "error.type"), "");
}

struct NameCase {
  const char* path;
  RequestKind kind;
  const char* name;
};

TEST(OtlpJson, IsNamedAfterWhatWasAsked) {
  constexpr NameCase kCases[] = {
      {"/v1/messages", RequestKind::kAnswer, "chat tiny:latest"},
      {"/v1/responses", RequestKind::kAnswer, "chat tiny:latest"},
      {"/api/generate", RequestKind::kAnswer, "text_completion tiny:latest"},
      {"/api/embed", RequestKind::kAnswer, "embeddings tiny:latest"},
      {"/api/hearth/load", RequestKind::kLoad, "load tiny:latest"},
      {"/v1/messages/count_tokens", RequestKind::kCount, "count_tokens tiny:latest"},
      {"/what", RequestKind::kAnswer, "request tiny:latest"},
  };
  for (const NameCase& test : kCases) {
    RequestReport one = report();
    one.path = test.path;
    one.kind = test.kind;
    EXPECT_EQ(spans_of(encoded(one)).at(0).at("name"), test.name);
  }
  RequestReport nameless = report();
  nameless.model.clear();
  EXPECT_EQ(spans_of(encoded(nameless)).at(0).at("name"), "chat");
}

TEST(OtlpJson, HoldsNoTextOfPrompts) {
  RequestReport one = report();
  one.prefix.emplace();
  one.prefix->miss = PrefixUse::Miss{VerdictCode::kPrefixDiverged, 3,
                                     PrefixUse::Difference{10, "monday-secret", "tuesday-secret"}};
  EXPECT_THAT(encoded(one), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace hearth::traces

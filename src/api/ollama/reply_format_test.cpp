// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/reply_format.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "api/ollama/figures.h"
#include "api/ollama/vectors.h"

namespace hearth::api::ollama {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::string_view kCreated = "2023-11-14T22:13:20.000000000Z";

struct Line {
  json::value value;

  const json::value& at(std::string_view name) const { return value.at(name); }
  bool has(std::string_view name) const { return value.as_object().contains(name); }
  std::string text(std::string_view name) const {
    return std::string{std::string_view{value.at(name).as_string()}};
  }
};

std::vector<Line> lines_of(const std::string& stream) {
  EXPECT_TRUE(stream.empty() || stream.back() == '\n');
  std::vector<Line> lines;
  std::istringstream in{stream};
  for (std::string line; std::getline(in, line);) lines.push_back({json::parse(line)});
  return lines;
}

std::unique_ptr<ReplyFormat> format_of(Shape shape) {
  static const ManualClock clock;
  return line_format(ReplyIdentity{"r1", "m:latest", "M", "", 0}, shape, clock);
}

front::Finished finished(std::string reason) {
  front::Finished end;
  end.reason = std::move(reason);
  end.prompt_tokens = 10;
  end.cached_tokens = 4;
  end.generated = 2;
  end.prompt_ms = 1.5;
  end.generated_ms = 2;
  end.report.request_id = "r1";
  end.report.timings.total = 9ms;
  return end;
}

TEST(OllamaLines, CarryLogprobsBesideTheMessage) {
  for (const Shape shape : {Shape::kChat, Shape::kGenerate}) {
    front::Delta delta{"hi", "", {}};
    delta.logprobs = {{{5, "hi", -0.5}, {}}};
    const json::value list =
        json::parse(R"([{"token":"hi","logprob":-0.5,"bytes":[104,105],"top_logprobs":[]}])");
    std::string out;
    format_of(shape)->append_delta(out, delta);
    EXPECT_EQ(lines_of(out).at(0).at("logprobs"), list);
    Collected all;
    all.add(delta);
    EXPECT_EQ(json::parse(format_of(shape)->whole(all, finished("stop"))).at("logprobs"), list);
  }
}

wire::ToolCallDelta part(int index, std::string name, std::string arguments) {
  return {index, "", std::move(name), std::move(arguments)};
}

front::Delta calls(std::vector<wire::ToolCallDelta> parts) {
  front::Delta delta;
  delta.tool_calls = std::move(parts);
  return delta;
}

TEST(OllamaFormat, StreamsAChat) {
  const auto format = format_of(Shape::kChat);
  EXPECT_EQ(format->content_type(), "application/x-ndjson");
  std::string out;
  format->append_first(out, {});
  EXPECT_EQ(out, "");
  format->append_delta(out, {"Hi\n", "hm", {}});
  format->append_end(out, finished("stop"));
  const auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].value, json::parse(R"({"model":"M","created_at":")" + std::string{kCreated} +
                                        R"(","message":{"role":"assistant","content":"Hi\n",
                                        "thinking":"hm"},"done":false})"));
  EXPECT_EQ(lines[1].at("message"), json::parse(R"({"role":"assistant","content":""})"));
  EXPECT_EQ(lines[1].at("done"), true);
  EXPECT_EQ(lines[1].text("done_reason"), "stop");
  EXPECT_EQ(lines[1].at("total_duration"), 9'000'000);
  EXPECT_EQ(lines[1].at("load_duration"), 0);
  EXPECT_EQ(lines[1].at("prompt_eval_count"), 10);
  EXPECT_EQ(lines[1].at("prompt_eval_cached_count"), 4);
  EXPECT_EQ(lines[1].at("prompt_eval_duration"), 1'500'000);
  EXPECT_EQ(lines[1].at("eval_count"), 2);
  EXPECT_EQ(lines[1].at("eval_duration"), 2'000'000);
  EXPECT_EQ(lines[1].at("hearth").at("request_id"), "r1");
}

TEST(OllamaFormat, StreamsGeneratedTextAndItsContext) {
  const auto format = format_of(Shape::kGenerate);
  std::string out;
  format->append_delta(out, {"Hi", "", {}});
  front::Finished end = finished("length");
  end.tokens = {1, 2, 3};
  format->append_end(out, end);
  const auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].text("response"), "Hi");
  EXPECT_FALSE(lines[0].has("message"));
  EXPECT_FALSE(lines[0].has("context"));
  EXPECT_EQ(lines[1].text("response"), "");
  EXPECT_EQ(lines[1].text("done_reason"), "length");
  EXPECT_EQ(lines[1].at("context"), json::parse("[1,2,3]"));
}

TEST(OllamaFormat, WholeReplies) {
  Collected reply{"text", "why", {}};
  const Line chat{json::parse(format_of(Shape::kChat)->whole(reply, finished("stop")))};
  EXPECT_EQ(chat.at("message"),
            json::parse(R"({"role":"assistant","content":"text","thinking":"why"})"));
  const Line text{json::parse(format_of(Shape::kGenerate)->whole(reply, finished("stop")))};
  EXPECT_EQ(text.text("response"), "text");
  EXPECT_EQ(text.text("thinking"), "why");
  EXPECT_EQ(text.at("done"), true);
  EXPECT_FALSE(text.has("context"));
}

TEST(OllamaFormat, SendsACallWhenAllOfItIsThere) {
  const auto format = format_of(Shape::kChat);
  std::string out;
  format->append_delta(out, calls({part(0, "f", "{\"a\":")}));
  format->append_delta(out, calls({part(0, "", "\n[1,\"x\"]}")}));
  EXPECT_EQ(out, "");
  format->append_delta(out, calls({part(1, "g", "")}));
  auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("message").at("tool_calls"), json::parse(R"([{"id":"call_r1_0","function":
                {"index":0,"name":"f","arguments":{"a":[1,"x"]}}}])"));
  EXPECT_EQ(lines[0].at("message").at("content"), "");
  format->append_end(out, finished("tool_calls"));
  lines = lines_of(out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].at("message").at("tool_calls").at(0).at("function").at("arguments"),
            json::object{});
  EXPECT_EQ(lines[2].text("done_reason"), "stop");
}

TEST(OllamaFormat, ACallCutOffComesAsText) {
  const auto format = format_of(Shape::kChat);
  std::string out;
  format->append_delta(out, calls({part(0, "f", "{\"a\":1")}));
  format->append_end(out, finished("length"));
  const auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("message"), json::parse(R"({"role":"assistant","content":"f{\"a\":1"})"));

  Collected reply{"", "", {part(0, "f", "{}"), part(1, "g", "{\"b\"")}};
  const Line whole{json::parse(format_of(Shape::kChat)->whole(reply, finished("length")))};
  EXPECT_EQ(whole.at("message").at("content"), "g{\"b\"");
  EXPECT_EQ(whole.at("message").at("tool_calls").as_array().size(), 1U);
}

TEST(OllamaFormat, ProgressAndErrorsAreLines) {
  const auto format = format_of(Shape::kGenerate);
  std::string out;
  format->append_progress(out, {"read", 0.5, 1, 2});
  format->append_error(out, front::Refused{Error{ErrorCode::kUnavailable, "it died"}, {}, {}, {}});
  const auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].text("response"), "");
  EXPECT_EQ(lines[0].at("done"), false);
  EXPECT_EQ(lines[0].at("hearth_progress").at("stage"), "read");
  EXPECT_EQ(lines[1].value, json::parse(R"({"error":"it died"})"));
}

TEST(OllamaFormat, ALoadIsOneLine) {
  const ManualClock clock;
  RequestReport report;
  EXPECT_EQ(json::parse(done_line("m", Shape::kChat, clock, "unload", report)),
            json::parse(R"({"model":"m","created_at":")" + std::string{kCreated} +
                        R"(","message":{"role":"assistant","content":""},"done":true,
                        "done_reason":"unload","total_duration":0,"load_duration":0})"));
  report.request_id = "r1";
  const Line loaded{json::parse(done_line("m", Shape::kGenerate, clock, "load", report))};
  EXPECT_EQ(loaded.text("response"), "");
  EXPECT_TRUE(loaded.has("hearth"));
}

TEST(OllamaFigures, LoadingIsTheUnionOfItsStages) {
  RequestReport report;
  const auto add = [&](StageKind kind, Duration start, Duration length) {
    report.timings.stages.push_back({kind, start, length, Bytes{}, false});
  };
  add(StageKind::kQueue, 0ms, 5ms);
  add(StageKind::kSpawn, 5ms, 10ms);
  add(StageKind::kRead, 15ms, 20ms);
  add(StageKind::kLoad, 25ms, 20ms);  // beside the read
  add(StageKind::kPrefill, 50ms, 30ms);
  JsonWriter out;
  add_durations(out, report);
  EXPECT_EQ(out.object(), R"({"total_duration":0,"load_duration":40000000})");
}

TEST(OllamaFigures, OneTokenHasATime) {
  front::Finished end = finished("length");
  end.generated = 1;
  end.generated_ms = 0;
  end.report.timings.stages.push_back({StageKind::kFirstDecode, 3ms, 2ms, Bytes{}, false});
  JsonWriter out;
  add_figures(out, end);
  EXPECT_EQ(json::parse(out.object()).at("eval_duration"), 2'000'000);
}

TEST(OllamaFigures, DatesAreUtcWithNineDecimals) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(rfc3339(1'709'210'096'000'001), "2024-02-29T12:34:56.000001000Z");
  EXPECT_EQ(rfc3339(10'413'792'000'000'000), "2300-01-01T00:00:00.000000000Z");
}

TEST(OllamaVectors, Bodies) {
  front::Finished end = finished("");
  const json::value both = json::parse(embed_json("M", {{1, 0}, {0, 1}}, end));
  EXPECT_EQ(both.at("model"), "M");
  EXPECT_EQ(both.at("embeddings").as_array().size(), 2U);
  EXPECT_EQ(both.at("prompt_eval_count"), 10);
  EXPECT_EQ(both.at("load_duration"), 0);
  EXPECT_EQ(json::parse(embed_json("M", {}, end)).at("embeddings"), json::array{});
  EXPECT_EQ(embeddings_json({}, RequestReport{}), R"({"embedding":[]})");
  EXPECT_EQ(embeddings_json({{0.5F}}, RequestReport{}), R"({"embedding":[0.5]})");
}

}  // namespace
}  // namespace hearth::api::ollama

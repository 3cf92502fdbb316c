// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/reply_format.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hearth::api::anthropic {
namespace {

namespace json = boost::json;

std::unique_ptr<ReplyFormat> format(ReplyRules rules = {}) {
  return message_format({"r1", "smol:latest", "smol", "llama zen4", 1'700'000'000'000'000},
                        std::move(rules));
}

front::Finished finished(std::string reason = "stop", std::string stopped_by = "") {
  front::Finished end;
  end.reason = std::move(reason);
  end.stopped_by = std::move(stopped_by);
  end.prompt_tokens = 10;
  end.cached_tokens = 4;
  end.generated = 5;
  end.report.request_id = "r1";
  return end;
}

front::Delta text(std::string piece) { return {std::move(piece), "", {}}; }
front::Delta thought(std::string piece) { return {"", std::move(piece), {}}; }
front::Delta call(wire::ToolCallDelta part) { return {"", "", {std::move(part)}}; }

// The stream of these deltas, from the first block to the last.
std::string streamed(const std::vector<front::Delta>& deltas, ReplyRules rules = {}) {
  const auto stream = format(std::move(rules));
  std::string out;
  for (const front::Delta& delta : deltas) stream->append_delta(out, delta);
  stream->append_end(out, finished());
  return out.substr(0, out.find("event: message_delta"));
}

TEST(AnthropicStream, BeginsWithTheMessageAndItsPrompt) {
  front::Started started;
  started.prompt_tokens = 10;
  started.cached_tokens = 4;
  std::string out;
  format()->append_first(out, started);
  EXPECT_EQ(out,
            "event: message_start\n"
            R"(data: {"type":"message_start","message":{"id":"msg_r1","type":"message",)"
            R"("role":"assistant","model":"smol:latest","content":[],"stop_reason":null,)"
            R"("stop_sequence":null,"usage":{"input_tokens":6,"cache_creation_input_tokens":0,)"
            R"("cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":0,)"
            R"("ephemeral_1h_input_tokens":0},"output_tokens":0}}})"
            "\n\n"
            "event: ping\ndata: {\"type\":\"ping\"}\n\n");
}

TEST(AnthropicUsage, CountsWhatIsKeptWhereItWasAsked) {
  struct Case {
    ReplyRules::Caching caching;
    bool layer_is_on;
    const char* counts;  // input, creation, read
  };
  using enum ReplyRules::Caching;
  for (const Case& one :
       {Case{kUnasked, true, "6 0 4"}, Case{kAsked, true, "0 6 4"}, Case{kAsked, false, "6 0 4"}}) {
    ReplyRules rules;
    rules.caching = one.caching;
    front::Finished end = finished();
    if (one.layer_is_on) end.report.prefix.emplace();
    const json::value usage = json::parse(format(rules)->whole({}, end)).at("usage");
    EXPECT_EQ(json::serialize(usage.at("input_tokens")) + " " +
                  json::serialize(usage.at("cache_creation_input_tokens")) + " " +
                  json::serialize(usage.at("cache_read_input_tokens")),
              one.counts);
    EXPECT_EQ(usage.at("cache_creation").at("ephemeral_5m_input_tokens"),
              usage.at("cache_creation_input_tokens"));
  }
}

TEST(AnthropicStream, TextIsOneBlock) {
  EXPECT_EQ(streamed({text("say \"hi\"\n"), text("ho")}),
            "event: content_block_start\n"
            R"(data: {"type":"content_block_start","index":0,)"
            R"("content_block":{"type":"text","text":""}})"
            "\n\n"
            "event: content_block_delta\n"
            R"(data: {"type":"content_block_delta","index":0,)"
            R"("delta":{"type":"text_delta","text":"say \"hi\"\n"}})"
            "\n\n"
            "event: content_block_delta\n"
            R"(data: {"type":"content_block_delta","index":0,)"
            R"("delta":{"type":"text_delta","text":"ho"}})"
            "\n\n"
            "event: content_block_stop\n"
            R"(data: {"type":"content_block_stop","index":0})"
            "\n\n");
}

TEST(AnthropicStream, EndsWithReasonUsageAndTheHearthObject) {
  const auto stream = format();
  std::string out;
  stream->append_delta(out, text("a"));
  stream->append_end(out, finished());
  const std::size_t at = out.find("event: message_delta\ndata: ");
  ASSERT_NE(at, std::string::npos);
  const std::string rest = out.substr(at + 27);
  const json::object event = json::parse(rest.substr(0, rest.find("\n\n"))).as_object();
  EXPECT_EQ(event.at("delta"), json::parse(R"({"stop_reason":"end_turn","stop_sequence":null})"));
  EXPECT_EQ(event.at("usage"), json::parse(R"({"input_tokens":6,"cache_creation_input_tokens":0,
      "cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":0,
      "ephemeral_1h_input_tokens":0},"output_tokens":5})"));
  EXPECT_EQ(event.at("hearth").at("request_id"), "r1");
  EXPECT_EQ(rest.substr(rest.find("\n\n") + 2),
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

// The blocks of a stream as its reader puts them together: "index type content".
std::string summary(const std::string& stream) {
  std::string out;
  for (std::size_t at = stream.find("data: "); at != std::string::npos;
       at = stream.find("data: ", at)) {
    at += 6;
    const json::object event =
        json::parse(stream.substr(at, stream.find("\n\n", at) - at)).as_object();
    const std::string index = std::to_string(event.at("index").as_int64());
    if (event.at("type") == "content_block_start") {
      out += index + " " + json::value_to<std::string>(event.at("content_block").at("type")) + " ";
    } else if (event.at("type") == "content_block_delta") {
      for (const auto& member : event.at("delta").as_object()) {
        if (member.key() != "type") out += json::value_to<std::string>(member.value());
      }
    } else {
      out += "; ";
    }
  }
  return out;
}

TEST(AnthropicStream, BlocksFollowEachOther) {
  EXPECT_EQ(summary(streamed({thought("h"), thought("m"), text("a"), call({0, "i", "f", "{\"x\""}),
                              call({0, "", "", ":1}"}), call({1, "j", "g", "{}"}), text("b")})),
            R"(0 thinking hm; 1 text a; 2 tool_use {"x":1}; 3 tool_use {}; 4 text b; )");
}

TEST(AnthropicStream, ACallHasAnIdOfItsOwnOrOurs) {
  const std::string ours = streamed({call({1, "", "f", ""})});
  EXPECT_NE(ours.find(R"("content_block":{"type":"tool_use","id":"toolu_r1_1","name":"f",)"
                      R"("input":{}})"),
            std::string::npos)
      << ours;
  EXPECT_NE(streamed({call({0, "abc", "f", ""})}).find(R"("id":"abc")"), std::string::npos);
}

TEST(AnthropicStream, AnEmptyReplyHasABlockToo) {
  EXPECT_EQ(summary(streamed({})), "0 text ; ");
  EXPECT_EQ(summary(streamed({text("")})), "0 text ; ");
}

TEST(AnthropicStream, LeavesOutWhatIsNotWanted) {
  ReplyRules rules;
  rules.thinking = ReplyRules::Thinking::kOmitted;
  rules.parallel_calls = ParallelCalls::kForbidden;
  EXPECT_EQ(summary(streamed({thought("hm"), call({0, "i", "f", "{}"}), call({1, "j", "g", "{}"})},
                             rules)),
            "0 tool_use {}; ");
}

TEST(AnthropicStream, AnErrorIsTheLastEvent) {
  std::string out;
  format()->append_error(out, {Error{ErrorCode::kUnavailable, "it died"}, {}, {}, {}});
  EXPECT_EQ(out,
            "event: error\n"
            R"(data: {"type":"error","error":{"type":"overloaded_error","message":"it died"},)"
            R"("request_id":null})"
            "\n\n");
}

TEST(AnthropicWhole, HasEverything) {
  Collected reply;
  reply.add(thought("hm"));
  reply.add(text("hello"));
  reply.add(call({0, "", "f", "{\"x\":1}"}));
  const json::object whole =
      json::parse(format()->whole(reply, finished("tool_calls"))).as_object();
  json::object rest = whole;
  rest.erase("hearth");
  EXPECT_EQ(json::value(rest), json::parse(R"({"id":"msg_r1","type":"message","role":"assistant",
      "model":"smol:latest","content":[{"type":"thinking","thinking":"hm","signature":""},
      {"type":"text","text":"hello"},
      {"type":"tool_use","id":"toolu_r1_0","name":"f","input":{"x":1}}],
      "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":6,
      "cache_creation_input_tokens":0,"cache_read_input_tokens":4,
      "cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},
      "output_tokens":5}})"));
  EXPECT_EQ(whole.at("hearth").at("request_id"), "r1");
}

TEST(AnthropicWhole, ArgumentsThatWereCutShortDoNotLookWhole) {
  Collected reply;
  reply.add(call({0, "i", "f", "{\"x\":"}));
  const json::value whole = json::parse(format()->whole(reply, finished("length")));
  EXPECT_EQ(whole.at("content").at(0).at("input"), json::parse(R"({"INVALID_JSON":"{\"x\":"})"));
}

struct ReasonCase {
  const char* name;
  const char* reason;
  const char* stopped_by;
  int max_tokens;
  const char* expected;
};

class AnthropicStopReason : public testing::TestWithParam<ReasonCase> {};

TEST_P(AnthropicStopReason, IsTheirWord) {
  ReplyRules rules;
  rules.stops = {"END"};
  rules.max_tokens = GetParam().max_tokens;
  const auto end = finished(GetParam().reason, GetParam().stopped_by);
  const json::value whole = json::parse(format(rules)->whole({}, end));
  EXPECT_EQ(whole.at("stop_reason"), GetParam().expected);
  EXPECT_EQ(whole.at("stop_sequence").is_null(), end.stopped_by != "END");
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, AnthropicStopReason,
    testing::Values(ReasonCase{"End", "stop", "", 9, "end_turn"},
                    ReasonCase{"Sequence", "stop", "END", 9, "stop_sequence"},
                    ReasonCase{"OfTheTemplate", "stop", "<|im_end|>", 9, "end_turn"},
                    ReasonCase{"Tools", "tool_calls", "", 9, "tool_use"},
                    ReasonCase{"Limit", "length", "", 5, "max_tokens"},
                    ReasonCase{"Context", "length", "", 9, "model_context_window_exceeded"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::api::anthropic

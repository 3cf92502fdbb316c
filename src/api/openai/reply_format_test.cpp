// SPDX-License-Identifier: Apache-2.0
#include "api/openai/reply_format.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hearth::api::openai {
namespace {

namespace json = boost::json;

ReplyIdentity identity() {
  return {"r1", "smol:latest", "smol", "llama zen4", 1'700'000'000'000'000};
}

front::Delta text_delta(std::string text) { return front::Delta{std::move(text), "", {}}; }

front::Finished finished() {
  front::Finished end;
  end.reason = "stop";
  end.prompt_tokens = 10;
  end.cached_tokens = 4;
  end.generated = 5;
  end.prompt_ms = 12;
  end.generated_ms = 20;
  end.report.request_id = "r1";
  return end;
}

// The first event of several.
json::object event_json(std::string_view events) {
  const std::string_view event = events.substr(0, events.find("\n\n"));
  EXPECT_TRUE(event.starts_with("data: "));
  return json::parse(event.substr(6)).as_object();
}

TEST(ChatChunks, CarryLogprobsWithTheirText) {
  const auto format = chat_format(identity(), UsageChunk::kNo);
  front::Delta delta = text_delta("hi");
  delta.logprobs = {{{5, "hi", -0.5}, {}}};
  std::string out;
  format->append_delta(out, delta);
  EXPECT_EQ(event_json(out).at("choices").at(0).at("logprobs"),
            json::parse(R"({"content":[{"token":"hi","logprob":-0.5,"bytes":[104,105],
                            "top_logprobs":[]}],"refusal":null})"));
}

TEST(ChatChunks, AreExactlyThese) {
  const auto format = chat_format(identity(), UsageChunk::kNo);
  const std::string head =
      R"(data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":1700000000,)"
      R"("model":"smol:latest","system_fingerprint":"llama zen4","choices":[)";
  std::string out;
  format->append_first(out, {});
  EXPECT_EQ(out, head + R"({"index":0,"delta":{"role":"assistant","content":"","refusal":null},)"
                        R"("logprobs":null,"finish_reason":null}]})"
                        "\n\n");
  out.clear();
  format->append_delta(out, text_delta("say \"hi\"\n"));
  EXPECT_EQ(out, head + R"({"index":0,"delta":{"content":"say \"hi\"\n"},)"
                        R"("logprobs":null,"finish_reason":null}]})"
                        "\n\n");
  out.clear();
  chat_format(identity(), UsageChunk::kYes)->append_end(out, finished());
  out = out.substr(out.find("\n\n") + 2);
  EXPECT_EQ(out, R"(data: {"id":"chatcmpl-r1","object":"chat.completion.chunk",)"
                 R"("created":1700000000,"model":"smol:latest",)"
                 R"("system_fingerprint":"llama zen4","choices":[],"usage":{"prompt_tokens":10,)"
                 R"("completion_tokens":5,"total_tokens":15,)"
                 R"("prompt_tokens_details":{"cached_tokens":4}}})"
                 "\n\ndata: [DONE]\n\n");
}

TEST(ChatChunks, TheLastCarriesTimingsAndTheHearthObject) {
  std::string out;
  chat_format(identity(), UsageChunk::kNo)->append_end(out, finished());
  const json::object chunk = event_json(out);
  const json::object& choice = chunk.at("choices").as_array().at(0).as_object();
  EXPECT_EQ(choice.at("finish_reason"), "stop");
  EXPECT_TRUE(choice.at("delta").as_object().empty());
  EXPECT_EQ(chunk.at("timings").at("cache_n"), 4);
  EXPECT_EQ(chunk.at("hearth").at("request_id"), "r1");
  EXPECT_FALSE(chunk.contains("usage"));
}

TEST(ChatChunks, ReasoningAndToolCalls) {
  const auto format = chat_format(identity(), UsageChunk::kNo);
  std::string out;
  format->append_delta(out, front::Delta{"", "hm", {}});
  EXPECT_EQ(event_json(out).at("choices").at(0).at("delta"),
            json::parse(R"({"reasoning_content":"hm"})"));
  out.clear();
  front::Delta delta;
  delta.tool_calls.push_back({0, "", "f", "{"});
  format->append_delta(out, delta);
  EXPECT_EQ(event_json(out).at("choices").at(0).at("delta"),
            json::parse(R"({"tool_calls":[{"index":0,"id":"call_r1_0","type":"function",
                           "function":{"name":"f","arguments":"{"}}]})"));
  out.clear();
  delta.tool_calls = {{0, "", "", "}"}};
  format->append_delta(out, delta);
  EXPECT_EQ(event_json(out).at("choices").at(0).at("delta"),
            json::parse(R"({"tool_calls":[{"index":0,"function":{"arguments":"}"}}]})"));
}

TEST(ChatWhole, HasEverything) {
  Collected reply;
  reply.add(text_delta("Hel"));
  reply.add(front::Delta{"lo", "why", {}});
  const json::value body =
      json::parse(chat_format(identity(), UsageChunk::kNo)->whole(reply, finished()));
  EXPECT_EQ(body.at("id"), "chatcmpl-r1");
  EXPECT_EQ(body.at("object"), "chat.completion");
  EXPECT_EQ(body.at("model"), "smol:latest");
  EXPECT_EQ(body.at("choices").at(0), json::parse(R"({"index":0,"message":{"role":"assistant",
    "content":"Hello","refusal":null,"reasoning_content":"why"},"logprobs":null,
    "finish_reason":"stop"})"));
  EXPECT_EQ(body.at("usage").at("total_tokens"), 15);
  EXPECT_EQ(body.at("timings").at("predicted_n"), 5);
  EXPECT_EQ(body.at("hearth").at("request_id"), "r1");
}

TEST(ChatWhole, PutsToolCallsTogether) {
  Collected reply;
  front::Delta delta;
  delta.tool_calls = {{0, "a", "f", "{\"x\""}};
  reply.add(delta);
  delta.tool_calls = {{0, "", "", ":1}"}, {1, "", "g", "{}"}};
  reply.add(delta);
  const json::value body =
      json::parse(chat_format(identity(), UsageChunk::kNo)->whole(reply, finished()));
  EXPECT_EQ(body.at("choices").at(0).at("message"),
            json::parse(R"({"role":"assistant","content":null,"refusal":null,"tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
      {"id":"call_r1_1","type":"function","function":{"name":"g","arguments":"{}"}}]})"));
}

TEST(ChatWithoutParallelCalls, TellsTheFirstCallAlone) {
  const auto format = chat_format(identity(), UsageChunk::kNo, ParallelCalls::kForbidden);
  front::Delta delta;
  delta.tool_calls = {{0, "a", "f", "{}"}, {1, "b", "g", "{"}};
  Collected reply;
  reply.add(delta);
  std::string out;
  format->append_delta(out, delta);
  EXPECT_EQ(event_json(out).at("choices").at(0).at("delta"),
            json::parse(R"({"tool_calls":[{"index":0,"id":"a","type":"function",
                           "function":{"name":"f","arguments":"{}"}}]})"));
  out.clear();
  delta.tool_calls = {{1, "", "", "}"}};
  reply.add(delta);
  format->append_delta(out, delta);
  EXPECT_EQ(out, "");
  const json::value body = json::parse(format->whole(reply, finished()));
  EXPECT_EQ(body.at("choices").at(0).at("message").at("tool_calls"),
            json::parse(R"([{"id":"a","type":"function",
                            "function":{"name":"f","arguments":"{}"}}])"));
}

TEST(TextFormat, ChunksAndWhole) {
  const auto format = text_format(identity(), UsageChunk::kNo);
  std::string out;
  format->append_first(out, {});
  EXPECT_EQ(out, "");
  format->append_delta(out, text_delta("hi"));
  EXPECT_EQ(out, R"(data: {"id":"cmpl-r1","object":"text_completion","created":1700000000,)"
                 R"("model":"smol:latest","system_fingerprint":"llama zen4",)"
                 R"("choices":[{"index":0,"text":"hi","logprobs":null,"finish_reason":null}]})"
                 "\n\n");
  out.clear();
  format->append_end(out, finished());
  EXPECT_EQ(event_json(out).at("choices").at(0),
            json::parse(R"({"index":0,"text":"","logprobs":null,"finish_reason":"stop"})"));
  Collected reply;
  reply.add(text_delta("hi"));
  const json::value body = json::parse(format->whole(reply, finished()));
  EXPECT_EQ(body.at("choices").at(0).at("text"), "hi");
  EXPECT_EQ(body.at("usage").at("prompt_tokens_details").at("cached_tokens"), 4);
}

TEST(Timings, CountEvaluatedAndCachedApart) {
  EXPECT_EQ(json::parse(timings_json(finished())), json::parse(R"({"cache_n":4,"prompt_n":6,
    "prompt_ms":12,"prompt_per_token_ms":2,"prompt_per_second":500,"predicted_n":5,
    "predicted_ms":20,"predicted_per_token_ms":4,"predicted_per_second":250})"));
}

TEST(Timings, AreNumbersWhenNothingWasDone) {
  const json::object timings = json::parse(timings_json(front::Finished{})).as_object();
  for (const auto& member : timings) EXPECT_EQ(member.value(), 0) << member.key();
}

}  // namespace
}  // namespace hearth::api::openai

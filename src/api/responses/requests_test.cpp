// SPDX-License-Identifier: Apache-2.0
#include "api/responses/requests.h"

#include <gtest/gtest.h>

#include "api/responses/items.h"

namespace hearth::api::responses {
namespace {

namespace json = boost::json;

json::object object(std::string_view text) { return json::parse(text).as_object(); }

// A body with a model and `more`.
Result<ResponseCall> parsed(const std::string& more, const Earlier& earlier = {}) {
  return parse_response(object(R"({"model":"smol",)" + more + "}"), earlier);
}

std::string messages(const std::string& more, const Earlier& earlier = {}) {
  const auto call = parsed(more, earlier);
  return call ? call->generate.message.messages : call.error().message();
}

struct Conversation {
  const char* name;
  const char* body;
  const char* messages;
};

class ResponseInput : public testing::TestWithParam<Conversation> {};

TEST_P(ResponseInput, BecomesTurns) {
  const json::value expected = json::parse(GetParam().messages);
  EXPECT_EQ(json::parse(messages(GetParam().body)), expected) << messages(GetParam().body);
}

INSTANTIATE_TEST_SUITE_P(
    Responses, ResponseInput,
    testing::Values(
        Conversation{"Text", R"("input":"hi")", R"([{"role":"user","content":"hi"}])"},
        Conversation{"Instructions", R"("instructions":"Be kind.","input":"hi")",
                     R"([{"role":"system","content":"Be kind."},{"role":"user","content":"hi"}])"},
        Conversation{"DeveloperIsSystem",
                     R"("instructions":"A","input":[{"role":"developer","content":"B"},
               {"role":"user","content":[{"type":"input_text","text":"hi"}]}])",
                     R"([{"role":"system","content":"A\nB"},{"role":"user","content":"hi"}])"},
        Conversation{"PartsAreJoined",
                     R"("input":[{"type":"message","role":"user","content":[
               {"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}])",
                     R"([{"role":"user","content":"a\nb"}])"},
        Conversation{"OwnReplies",
                     R"("input":[{"role":"user","content":"hi"},
               {"type":"reasoning","id":"rs_1","summary":[],
                "content":[{"type":"reasoning_text","text":"hm"}]},
               {"type":"message","role":"assistant","id":"m","status":"completed",
                "content":[{"type":"output_text","text":"ho","annotations":[]}]},
               {"role":"user","content":"so?"}])",
                     R"([{"role":"user","content":"hi"},
                {"role":"assistant","content":"ho","reasoning_content":"hm"},
                {"role":"user","content":"so?"}])"},
        Conversation{"Calls",
                     R"("input":[{"role":"user","content":"hi"},
               {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"},
               {"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},
               {"type":"function_call_output","call_id":"c1","output":"one"},
               {"type":"function_call_output","call_id":"c2",
                "output":[{"type":"input_text","text":"two"}]}])",
                     R"([{"role":"user","content":"hi"},
                {"role":"assistant","content":null,"tool_calls":[
                 {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
                 {"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},
                {"role":"tool","tool_call_id":"c1","name":"f","content":"one"},
                {"role":"tool","tool_call_id":"c2","name":"g","content":"two"}])"}),
    [](const auto& test) { return test.param.name; });

TEST(Responses, GoesOnFromEarlierItems) {
  const Earlier earlier{
      json::parse(R"([{"type":"message","role":"user","content":"hi"}])").as_array(),
      json::parse(R"([{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}])")
          .as_array()};
  const std::string text = messages(
      R"("instructions":"A","input":[{"type":"function_call_output","call_id":"c","output":"1"}])",
      earlier);
  const json::value turns = json::parse(text);
  ASSERT_EQ(turns.as_array().size(), 4U) << text;
  EXPECT_EQ(turns.at(0).at("content"), json::value("A"));
  EXPECT_EQ(turns.at(3).at("name"), json::value("f"));
}

TEST(Responses, ReadsWhatIsAsked) {
  const auto call = parsed(
      R"("input":"hi","max_output_tokens":7,"temperature":0.5,"top_p":0.25,"stream":true,
         "store":false,"previous_response_id":"resp_1","truncation":"auto",
         "reasoning":{"effort":"low","summary":"auto"},"parallel_tool_calls":false,
         "tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":true}],
         "tool_choice":"required","text":{"format":{"type":"json_object"}})");
  ASSERT_TRUE(call) << call.error().message();
  const wire::GenerateMessage& message = call->generate.message;
  EXPECT_EQ(message.max_tokens, 7);
  EXPECT_EQ(message.sampling.temperature, 0.5);
  EXPECT_EQ(message.sampling.top_p, 0.25);
  EXPECT_EQ(message.thinking, "on");
  EXPECT_EQ(message.template_kwargs, R"({"reasoning_effort":"low"})");
  EXPECT_EQ(message.tools, R"([{"type":"function","function":{"name":"f",)"
                           R"("parameters":{"type":"object"}}}])");
  EXPECT_EQ(message.tool_choice, "required");
  EXPECT_EQ(message.response_schema, "{}");
  EXPECT_TRUE(message.truncate);
  EXPECT_EQ(call->generate.delivery, front::Delivery::kStreamed);
  EXPECT_EQ(call->output.reasoning, ReasoningAs::kSummary);
  EXPECT_EQ(call->output.parallel_calls, ParallelCalls::kForbidden);
  EXPECT_FALSE(call->store);
  EXPECT_EQ(call->previous, "resp_1");
  EXPECT_EQ(call->echoed.at("temperature"), json::value(0.5));
  EXPECT_EQ(call->echoed.at("tools").at(0).at("name"), json::value("f"));
}

TEST(Responses, ChoosesAmongTools) {
  const std::string tools = R"("input":"hi","tools":[{"type":"function","name":"f"},
      {"type":"function","name":"g"},{"type":"function","name":"h"}],)";
  const auto one = parsed(tools + R"("tool_choice":{"type":"function","name":"g"})");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->generate.message.tool_choice, "required");
  EXPECT_EQ(json::parse(one->generate.message.tools).as_array().size(), 1U);
  const auto some = parsed(tools + R"("tool_choice":{"type":"allowed_tools","mode":"auto",
      "tools":[{"type":"function","name":"h"},{"type":"function","name":"f"}]})");
  ASSERT_TRUE(some);
  EXPECT_EQ(some->generate.message.tool_choice, "auto");
  EXPECT_EQ(json::parse(some->generate.message.tools).as_array().size(), 2U);
}

struct Refusal {
  const char* body;
  const char* field;
};

class ResponseRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(ResponseRefusals, NamesTheField) {
  const auto call = parsed(GetParam().body);
  ASSERT_FALSE(call) << GetParam().body;
  EXPECT_EQ(call.error().field(), GetParam().field) << call.error().message();
}

INSTANTIATE_TEST_SUITE_P(
    Responses, ResponseRefusals,
    testing::Values(
        Refusal{R"("x":1)", "input"}, Refusal{R"("input":5)", "input"},
        Refusal{R"("input":[])", "input"}, Refusal{R"("input":[5])", "input[0]"},
        Refusal{R"("input":[{"type":"web_search_call"}])", "input[0].type"},
        Refusal{R"("input":[{"type":"item_reference","id":"x"}])", "input[0].type"},
        Refusal{R"("input":[{"role":"robot","content":"x"}])", "input[0].role"},
        Refusal{R"("input":[{"role":"user"}])", "input[0].content"},
        Refusal{R"("input":[{"role":"user","content":[{"type":"input_image","image_url":"x"}]}])",
                "input[0].content[0].type"},
        Refusal{R"("input":[{"type":"function_call_output","call_id":"x","output":"1"}])",
                "input[0].call_id"},
        Refusal{R"("input":"x","background":true)", "background"},
        Refusal{R"("input":"x","conversation":"c")", "conversation"},
        Refusal{R"("input":"x","prompt":{"id":"p"})", "prompt"},
        Refusal{R"("input":"x","top_logprobs":2)", "top_logprobs"},
        Refusal{R"("input":"x","service_tier":"flex")", "service_tier"},
        Refusal{R"("input":"x","include":["message.output_text.logprobs"])", "include[0]"},
        Refusal{R"("input":"x","tools":[{"type":"web_search"}])", "tools[0].type"},
        Refusal{R"("input":"x","tool_choice":"required")", "tool_choice"},
        Refusal{R"("input":"x","tool_choice":{"type":"function","name":"f"})", "tool_choice.name"},
        Refusal{R"("input":"x","text":{"verbosity":"low"})", "text.verbosity"},
        Refusal{R"("input":"x","text":{"format":{"type":"json_schema"}})", "text.format.schema"},
        Refusal{R"("input":"x","text":{"format":{"type":"xml"}})", "text.format.type"},
        Refusal{R"("input":"x","reasoning":{"effort":"huge"})", "reasoning.effort"},
        Refusal{R"("input":"x","reasoning":{"summary":"long"})", "reasoning.summary"},
        Refusal{R"("input":"x","truncation":"no")", "truncation"},
        Refusal{R"("input":"x","max_output_tokens":0)", "max_output_tokens"},
        Refusal{R"("input":"x","metadata":{"a":1})", "metadata.a"},
        Refusal{R"("input":"x","stream_options":{"include_obfuscation":true})",
                "stream_options.include_obfuscation"}));

TEST(Responses, WhatAsksForNothingPasses) {
  const auto call = parsed(
      R"("input":"x","background":false,"conversation":null,"top_logprobs":0,"include":[],
         "service_tier":"auto","text":{"verbosity":"medium"},"stream_options":{},
         "user":"u","metadata":{"a":"b"},"max_tool_calls":3,"tools":[],"unknown":1)");
  ASSERT_TRUE(call) << call.error().message();
  EXPECT_EQ(call->echoed.at("metadata").at("a"), json::value("b"));
}

TEST(Responses, InputIsListedWithIdsAndTypes) {
  const json::array text = listed_items("hi", "r1");
  EXPECT_EQ(json::serialize(text),
            R"([{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}],)"
            R"("id":"msg_r1_in0"}])");
  const json::array items = listed_items(json::parse(R"([{"role":"user","content":"a"},
                      {"type":"function_call_output","call_id":"c","output":"1"},
                      {"type":"message","id":"mine","role":"user","content":[]}])"),
                                         "r1");
  EXPECT_EQ(items.at(0).at("type"), json::value("message"));
  EXPECT_EQ(items.at(1).at("id"), json::value("fco_r1_in1"));
  EXPECT_EQ(items.at(2).at("id"), json::value("mine"));
}

}  // namespace
}  // namespace hearth::api::responses

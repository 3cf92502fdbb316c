// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/requests.h"

#include <gtest/gtest.h>

namespace hearth::api::anthropic {
namespace {

namespace json = boost::json;

// `extra` replaces members of a good body.
json::object body(const std::string& extra) {
  json::object whole = json::parse(R"({"model":"m","max_tokens":2048,
      "messages":[{"role":"user","content":"hi"}]})")
                           .as_object();
  const json::value more = json::parse("{" + extra + "}");
  for (const auto& member : more.get_object()) whole[member.key()] = member.value();
  return whole;
}

wire::GenerateMessage read(const std::string& extra) {
  auto call = parse_messages(body(extra));
  EXPECT_TRUE(call) << call.error().message();
  return call ? call->generate.message : wire::GenerateMessage{};
}

// The conversation that `messages` becomes.
json::value turns(const std::string& messages, const std::string& extra = R"("x":1)") {
  return json::parse(read(R"("messages":)" + messages + "," + extra).messages);
}

struct BodyCase {
  const char* name;
  const char* extra;
  const char* field;  // what the error names, empty when all is well
};

class AnthropicBody : public testing::TestWithParam<BodyCase> {};

TEST_P(AnthropicBody, IsReadOrNamesTheField) {
  const auto call = parse_messages(body(GetParam().extra));
  if (call) {
    EXPECT_STREQ(GetParam().field, "");
    return;
  }
  EXPECT_EQ(call.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(call.error().field(), GetParam().field) << call.error().message();
}

constexpr auto kName = [](const auto& test) { return test.param.name; };

INSTANTIATE_TEST_SUITE_P(
    Fields, AnthropicBody,
    testing::Values(
        BodyCase{"Progress", R"("return_progress":true)", "return_progress"},
        BodyCase{"Plain", R"("x":1)", ""}, BodyCase{"NoModel", R"("model":null)", "model"},
        BodyCase{"NoMaxTokens", R"("max_tokens":null)", "max_tokens"},
        BodyCase{"MaxTokensZero", R"("max_tokens":0)", "max_tokens"},
        BodyCase{"MaxTokensText", R"("max_tokens":"5")", "max_tokens"},
        BodyCase{"Temperature", R"("temperature":1)", ""},
        BodyCase{"TemperatureHigh", R"("temperature":1.1)", "temperature"},
        BodyCase{"TopP", R"("top_p":-0.1)", "top_p"}, BodyCase{"TopK", R"("top_k":-1)", "top_k"},
        BodyCase{"StreamText", R"("stream":"yes")", "stream"},
        BodyCase{"Stops", R"("stop_sequences":["a","b"])", ""},
        BodyCase{"StopNumber", R"("stop_sequences":["a",2])", "stop_sequences[1]"},
        BodyCase{"KeepAlive", R"("keep_alive":"5m")", ""},
        BodyCase{"KeepAliveFlag", R"("keep_alive":true)", "keep_alive"},
        BodyCase{"Ttl", R"("ttl":"x")", "ttl"},
        BodyCase{"PassedOver",
                 R"("metadata":{"user_id":"u"},"service_tier":"auto","cache_control":{"type":"x"})",
                 ""},
        BodyCase{"Container", R"("container":"c")", "container"},
        BodyCase{"McpServers", R"("mcp_servers":[{}])", "mcp_servers"},
        BodyCase{"NoMcpServers", R"("mcp_servers":[])", ""},
        BodyCase{"Format",
                 R"("output_config":{"format":{"type":"json_schema","schema":{}},"effort":"low"})",
                 ""},
        BodyCase{"FormatType", R"("output_config":{"format":{"type":"yaml"}})",
                 "output_config.format.type"},
        BodyCase{"FormatSchema", R"("output_config":{"format":{"type":"json_schema"}})",
                 "output_config.format.schema"}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Thinking, AnthropicBody,
    testing::Values(
        BodyCase{"Enabled", R"("thinking":{"type":"enabled","budget_tokens":1024})", ""},
        BodyCase{"BudgetMissing", R"("thinking":{"type":"enabled"})", "thinking.budget_tokens"},
        BodyCase{"BudgetSmall", R"("thinking":{"type":"enabled","budget_tokens":1023})",
                 "thinking.budget_tokens"},
        BodyCase{"BudgetOverLimit", R"("thinking":{"type":"enabled","budget_tokens":2048})",
                 "thinking.budget_tokens"},
        BodyCase{"Disabled", R"("thinking":{"type":"disabled"})", ""},
        BodyCase{"Adaptive", R"("thinking":{"type":"adaptive","display":"omitted"})", ""},
        BodyCase{"Display", R"("thinking":{"type":"adaptive","display":"loud"})",
                 "thinking.display"},
        BodyCase{"Flag", R"("thinking":true)", "thinking"},
        BodyCase{"Type", R"("thinking":{"type":"hard"})", "thinking.type"}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Conversation, AnthropicBody,
    testing::Values(
        BodyCase{"Null", R"("messages":null)", "messages"},
        BodyCase{"Empty", R"("messages":[])", "messages"},
        BodyCase{"NoObject", R"("messages":["hi"])", "messages[0]"},
        BodyCase{"NoRole", R"("messages":[{"content":"a"}])", "messages[0].role"},
        BodyCase{"ToolRole", R"("messages":[{"role":"tool","content":"a"}])", "messages[0].role"},
        BodyCase{"NoContent", R"("messages":[{"role":"user"}])", "messages[0].content"},
        BodyCase{"NumberContent", R"("messages":[{"role":"user","content":5}])",
                 "messages[0].content"},
        BodyCase{"EmptyContent", R"("messages":[{"role":"user","content":[]}])",
                 "messages[0].content"},
        BodyCase{"TextMissing", R"("messages":[{"role":"user","content":[{"type":"text"}]}])",
                 "messages[0].content[0].text"},
        BodyCase{"Image",
                 R"("messages":[{"role":"user","content":[{"type":"text","text":"a"},
                   {"type":"image","source":{"type":"url","url":"http://127.0.0.1/x"}}]}])",
                 "messages[0].content[1].type"},
        BodyCase{"Document", R"("messages":[{"role":"user","content":[{"type":"document"}]}])",
                 "messages[0].content[0].type"},
        BodyCase{"UserCalls", R"("messages":[{"role":"user","content":[{"type":"tool_use"}]}])",
                 "messages[0].content[0].type"},
        BodyCase{"ResultWithoutId",
                 R"("messages":[{"role":"user","content":[{"type":"tool_result"}]}])",
                 "messages[0].content[0].tool_use_id"},
        BodyCase{"ResultImage",
                 R"("messages":[{"role":"user","content":[{"type":"tool_result",
                   "tool_use_id":"t","content":[{"type":"image"}]}]}])",
                 "messages[0].content[0].content[0].type"},
        BodyCase{"CallWithoutInput",
                 R"("messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t",
                   "name":"f"}]},{"role":"user","content":"a"}])",
                 "messages[0].content[0].input"},
        BodyCase{"Prefill",
                 R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}])",
                 "messages[1].role"},
        BodyCase{"SystemNumber", R"("system":5)", "system"},
        BodyCase{"SystemImage", R"("system":[{"type":"image"}])", "system[0].type"}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Tools, AnthropicBody,
    testing::Values(
        BodyCase{"Own", R"("tools":[{"name":"f","input_schema":{"type":"object"}}])", ""},
        BodyCase{"Custom", R"("tools":[{"type":"custom","name":"f","input_schema":{}}])", ""},
        BodyCase{"Empty", R"("tools":[],"tool_choice":{"type":"auto"})", ""},
        BodyCase{"Server", R"("tools":[{"type":"web_search_20250305","name":"web_search"}])",
                 "tools[0].type"},
        BodyCase{"NoName", R"("tools":[{"input_schema":{}}])", "tools[0].name"},
        BodyCase{"NoSchema", R"("tools":[{"name":"f"}])", "tools[0].input_schema"},
        BodyCase{"Twice",
                 R"("tools":[{"name":"f","input_schema":{}},{"name":"f","input_schema":{}}])",
                 "tools[1].name"},
        BodyCase{"ChoiceWord", R"("tool_choice":"auto")", "tool_choice"},
        BodyCase{"ChoiceType", R"("tool_choice":{"type":"some"})", "tool_choice.type"},
        BodyCase{"AnyOfNone", R"("tool_choice":{"type":"any"})", "tool_choice.type"},
        BodyCase{"ChoiceOfNobody",
                 R"("tools":[{"name":"f","input_schema":{}}],
                   "tool_choice":{"type":"tool","name":"g"})",
                 "tool_choice.name"},
        BodyCase{"Parallel", R"("tool_choice":{"type":"auto","disable_parallel_tool_use":1})",
                 "tool_choice.disable_parallel_tool_use"}),
    kName);

TEST(AnthropicConversation, SystemComesFirstAndNeighboursBecomeOne) {
  EXPECT_EQ(turns(R"([{"role":"user","content":"a"},
                      {"role":"user","content":[{"type":"text","text":"b"},
                                                {"type":"text","text":"c"}]},
                      {"role":"assistant","content":"d"},{"role":"user","content":""}])",
                  R"("system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}},
                               {"type":"text","text":"t"}])"),
            json::parse(R"([{"role":"system","content":"s\nt"},{"role":"user","content":"a\nb\nc"},
                {"role":"assistant","content":"d"},{"role":"user","content":""}])"));
}

TEST(AnthropicConversation, CallsAndResults) {
  EXPECT_EQ(turns(R"([{"role":"user","content":"a"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},
        {"type":"redacted_thinking","data":"x"},
        {"type":"tool_use","id":"t1","name":"f","input":{"x":1}},
        {"type":"tool_use","id":"t2","name":"g","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"},
        {"type":"tool_result","tool_use_id":"t2","is_error":true,
         "content":[{"type":"text","text":"no"}]},
        {"type":"tool_result","tool_use_id":"t3"},{"type":"text","text":"go on"}]}])"),
            json::parse(R"([{"role":"user","content":"a"},
      {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[
        {"id":"t1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
        {"id":"t2","type":"function","function":{"name":"g","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"t1","name":"f","content":"ok"},
      {"role":"tool","tool_call_id":"t2","name":"g","content":"Error: no"},
      {"role":"tool","tool_call_id":"t3","content":""},
      {"role":"user","content":"go on"}])"));
}

TEST(AnthropicConversation, RedactedThinkingAloneLeavesAnEmptyTurn) {
  EXPECT_EQ(turns(R"([{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]},
                      {"role":"user","content":"a"}])"),
            json::parse(R"([{"role":"assistant","content":""},{"role":"user","content":"a"}])"));
}

TEST(AnthropicTools, TakeOpenAiShape) {
  const auto message = read(R"("tools":[
      {"name":"f","description":"d","input_schema":{"type":"object"}},
      {"name":"g","input_schema":{}}],"tool_choice":{"type":"any"})");
  EXPECT_EQ(json::parse(message.tools), json::parse(R"([
      {"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},
      {"type":"function","function":{"name":"g","parameters":{}}}])"));
  EXPECT_EQ(message.tool_choice, "required");
}

TEST(AnthropicTools, AChosenOneIsAlone) {
  const auto call = parse_messages(body(R"("tools":[{"name":"f","input_schema":{}},
      {"name":"g","input_schema":{}}],
      "tool_choice":{"type":"tool","name":"g","disable_parallel_tool_use":true})"));
  ASSERT_TRUE(call);
  const json::array tools = json::parse(call->generate.message.tools).as_array();
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].at("function").at("name"), "g");
  EXPECT_EQ(call->generate.message.tool_choice, "required");
  EXPECT_EQ(call->rules.parallel_calls, ParallelCalls::kForbidden);
}

TEST(AnthropicRequest, CarriesWhatWasAsked) {
  const auto call = parse_messages(body(R"("stream":true,"temperature":0.5,"top_k":7,
      "stop_sequences":["x"],"thinking":{"type":"disabled"},"keep_alive":60,
      "return_progress":true,"output_config":{"format":{"type":"json_schema","schema":{"a":1}}})"));
  ASSERT_TRUE(call);
  const wire::GenerateMessage& message = call->generate.message;
  EXPECT_EQ(call->generate.delivery, front::Delivery::kStreamed);
  EXPECT_TRUE(call->generate.options.return_progress);
  EXPECT_EQ(call->generate.options.keep_alive->text(), "1m0s");
  EXPECT_EQ(message.max_tokens, 2048);
  EXPECT_EQ(message.sampling.temperature, 0.5);
  EXPECT_EQ(message.sampling.top_k, 7);
  EXPECT_EQ(message.thinking, "off");
  EXPECT_EQ(message.response_schema, R"({"a":1})");
  EXPECT_EQ(call->rules.stops, std::vector<std::string>{"x"});
  EXPECT_FALSE(message.count_only);
}

TEST(AnthropicCount, NeedsNoLimitAndOnlyCounts) {
  const auto call = parse_count(body(R"("max_tokens":null)"));
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->generate.message.count_only);
  EXPECT_EQ(call->generate.options.model, "m");
  EXPECT_FALSE(parse_count(body(R"("messages":[])")));
}

}  // namespace
}  // namespace hearth::api::anthropic

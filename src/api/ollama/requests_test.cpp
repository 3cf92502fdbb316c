// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/requests.h"

#include <gtest/gtest.h>

namespace hearth::api::ollama {
namespace {

namespace json = boost::json;

json::object with(const char* base, const std::string& extra) {
  json::object body = json::parse(base).as_object();
  const json::value more = json::parse("{" + extra + "}");
  for (const auto& member : more.get_object()) body[member.key()] = member.value();
  return body;
}

json::object chat(const std::string& extra) {
  return with(R"({"model":"m","messages":[{"role":"user","content":"hi"}]})", extra);
}
json::object generate(const std::string& extra) {
  return with(R"({"model":"m","prompt":"hi"})", extra);
}
json::object embed(const std::string& extra) {
  return with(R"({"model":"m","input":"hi"})", extra);
}

// `extra` replaces members of a good body; `field` is what the error names, empty when all is well.
struct BodyCase {
  const char* name;
  const char* extra;
  const char* field;
};

template <class T>
std::string field_of(const Result<T>& parsed) {
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalid);
  return parsed.error().field().empty() ? "(none)" : parsed.error().field();
}

constexpr auto kName = [](const auto& test) { return test.param.name; };

class OllamaChatBody : public testing::TestWithParam<BodyCase> {};
TEST_P(OllamaChatBody, IsReadOrNamesTheField) {
  EXPECT_EQ(field_of(parse_chat(chat(GetParam().extra))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, OllamaChatBody,
    testing::Values(
        BodyCase{"UnknownMember", R"("x":1)", ""}, BodyCase{"NoModel", R"("model":null)", "model"},
        BodyCase{"StreamText", R"("stream":"yes")", "stream"},
        BodyCase{"FormatJson", R"("format":"json")", ""},
        BodyCase{"FormatEmpty", R"("format":"")", ""},
        BodyCase{"FormatSchema", R"("format":{"type":"object"})", ""},
        BodyCase{"FormatWord", R"("format":"yaml")", "format"},
        BodyCase{"FormatList", R"("format":[])", "format"},
        BodyCase{"ThinkOn", R"("think":true)", ""}, BodyCase{"ThinkLow", R"("think":"low")", ""},
        BodyCase{"ThinkNull", R"("think":null)", ""},
        BodyCase{"ThinkWord", R"("think":"hard")", "think"},
        BodyCase{"ThinkNumber", R"("think":1)", "think"},
        BodyCase{"Shift", R"("shift":true)", "shift"}, BodyCase{"ShiftOff", R"("shift":false)", ""},
        BodyCase{"Truncate", R"("truncate":1)", "truncate"},
        BodyCase{"Logprobs", R"("logprobs":true,"top_logprobs":20)", ""},
        BodyCase{"LogprobsOff", R"("logprobs":false,"top_logprobs":0)", ""},
        BodyCase{"TopLogprobs", R"("top_logprobs":3)", "top_logprobs"},
        BodyCase{"LogprobsWord", R"("logprobs":"yes")", "logprobs"},
        BodyCase{"LogprobsTooMany", R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
        BodyCase{"KeepAlive", R"("keep_alive":"5 parsecs")", "keep_alive"},
        BodyCase{"ProgressOfAWhole", R"("stream":false,"return_progress":true)", "return_progress"},
        BodyCase{"ProgressOff", R"("stream":false,"return_progress":false)", ""},
        BodyCase{"Progress", R"("return_progress":true)", ""},
        BodyCase{"OptionsText", R"("options":"x")", "options"},
        BodyCase{"OptionUnknown", R"("options":{"tempature":1})", "options.tempature"},
        BodyCase{"Debug", R"("_debug_render_only":true)", "_debug_render_only"}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Messages, OllamaChatBody,
    testing::Values(
        BodyCase{"Absent", R"("messages":null)", ""}, BodyCase{"Empty", R"("messages":[])", ""},
        BodyCase{"Text", R"("messages":"hi")", "messages"},
        BodyCase{"NoObject", R"("messages":["hi"])", "messages[0]"},
        BodyCase{"NoRole", R"("messages":[{"content":"a"}])", "messages[0].role"},
        BodyCase{"RoleUpper", R"("messages":[{"role":"User","content":"a"}])", ""},
        BodyCase{"RoleUnknown", R"("messages":[{"role":"robot"}])", "messages[0].role"},
        BodyCase{"NoContent", R"("messages":[{"role":"user"}])", ""},
        BodyCase{"ContentList", R"("messages":[{"role":"user","content":[]}])",
                 "messages[0].content"},
        BodyCase{"NoImages", R"("messages":[{"role":"user","content":"a","images":[]}])", ""},
        BodyCase{"Images", R"("messages":[{"role":"user","content":"a","images":["aGk="]}])",
                 "messages[0].images"},
        BodyCase{"ImageAddress",
                 R"("messages":[{"role":"user","images":["http://127.0.0.1:9/x"]}])",
                 "messages[0].images"},
        BodyCase{"UserCalls", R"("messages":[{"role":"user","tool_calls":[{}]}])",
                 "messages[0].tool_calls"},
        BodyCase{"CallWithoutFunction", R"("messages":[{"role":"assistant","tool_calls":[{}]}])",
                 "messages[0].tool_calls[0].function"},
        BodyCase{"ArgumentsText", R"("messages":[{"role":"assistant","tool_calls":[
                     {"function":{"name":"f","arguments":"{}"}}]}])",
                 "messages[0].tool_calls[0].function.arguments"},
        BodyCase{"ToolsText", R"("tools":"f")", "tools"},
        BodyCase{"ToolWithoutName", R"("tools":[{"type":"function","function":{}}])",
                 "tools[0].function.name"},
        BodyCase{"ToolType", R"("tools":[{"type":"web","function":{"name":"f"}}])",
                 "tools[0].type"}),
    kName);

class OllamaGenerateBody : public testing::TestWithParam<BodyCase> {};
TEST_P(OllamaGenerateBody, IsReadOrNamesTheField) {
  EXPECT_EQ(field_of(parse_generate(generate(GetParam().extra))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, OllamaGenerateBody,
    testing::Values(BodyCase{"PromptList", R"("prompt":["hi"])", "prompt"},
                    BodyCase{"Suffix", R"("suffix":"x")", ""},
                    BodyCase{"SuffixSystem", R"("suffix":"x","system":"s")", "system"},
                    BodyCase{"SuffixThinking", R"("suffix":"x","think":true)", "think"},
                    BodyCase{"SuffixEmpty", R"("suffix":"")", ""},
                    BodyCase{"Template", R"("template":"{{ .Prompt }}")", "template"},
                    BodyCase{"Images", R"("images":["aGk="])", "images"},
                    BodyCase{"ImagesEmpty", R"("images":[])", ""},
                    BodyCase{"ImagesText", R"("images":"aGk=")", "images"},
                    BodyCase{"Context", R"("context":[1,2])", ""},
                    BodyCase{"ContextText", R"("context":["a"])", "context[0]"},
                    BodyCase{"ContextNegative", R"("context":[1,-2])", "context[1]"},
                    BodyCase{"RawSystem", R"("raw":true,"system":"x")", "system"},
                    BodyCase{"RawContext", R"("raw":true,"context":[1])", "context"},
                    BodyCase{"RawEmpties", R"("raw":true,"system":"","context":[])", ""},
                    BodyCase{"RawThink", R"("raw":true,"think":true)", "think"},
                    BodyCase{"RawNoThink", R"("raw":true,"think":false)", ""}),
    kName);

class OllamaEmbedBody : public testing::TestWithParam<BodyCase> {};
TEST_P(OllamaEmbedBody, IsReadOrNamesTheField) {
  EXPECT_EQ(field_of(parse_embed(embed(GetParam().extra))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, OllamaEmbedBody,
    testing::Values(BodyCase{"List", R"("input":["a","b"])", ""},
                    BodyCase{"None", R"("input":null)", ""},
                    BodyCase{"Number", R"("input":5)", "input"},
                    BodyCase{"ListNumber", R"("input":["a",5])", "input[1]"},
                    BodyCase{"ListEmptyText", R"("input":["a",""])", "input[1]"},
                    BodyCase{"Dimensions", R"("dimensions":-1)", "dimensions"},
                    BodyCase{"Option", R"("options":{"num_ctx":4096})", ""},
                    BodyCase{"BadOption", R"("options":{"use_mlock":true})", "options.use_mlock"},
                    BodyCase{"Progress", R"("return_progress":true)", "return_progress"},
                    BodyCase{"KeepAlive", R"("keep_alive":true)", "keep_alive"}),
    kName);

struct PurposeCase {
  const char* name;
  const char* extra;
  Purpose purpose;
};

class OllamaIdle : public testing::TestWithParam<PurposeCase> {};
TEST_P(OllamaIdle, LoadsOrUnloads) {
  const std::string extra = GetParam().extra;
  const auto comma = extra.empty() ? "" : ",";
  EXPECT_EQ(parse_chat(chat(R"("messages":[])" + (comma + extra)))->purpose, GetParam().purpose);
  EXPECT_EQ(parse_generate(generate(R"("prompt":"")" + (comma + extra)))->purpose,
            GetParam().purpose);
  EXPECT_EQ(parse_embed(embed(R"("input":[])" + (comma + extra)))->purpose, GetParam().purpose);
  EXPECT_EQ(parse_embeddings(embed(extra))->purpose, GetParam().purpose);
  EXPECT_EQ(parse_chat(chat(extra))->purpose, Purpose::kAnswer);
}

INSTANTIATE_TEST_SUITE_P(
    WithoutPrompt, OllamaIdle,
    testing::Values(PurposeCase{"Default", "", Purpose::kLoad},
                    PurposeCase{"Null", R"("keep_alive":null)", Purpose::kLoad},
                    PurposeCase{"Never", R"("keep_alive":-1)", Purpose::kLoad},
                    PurposeCase{"Minutes", R"("keep_alive":"5m")", Purpose::kLoad},
                    PurposeCase{"Zero", R"("keep_alive":0)", Purpose::kUnload},
                    PurposeCase{"ZeroText", R"("keep_alive":"0")", Purpose::kUnload},
                    PurposeCase{"ZeroMinutes", R"("keep_alive":"0m")", Purpose::kUnload}),
    kName);

TEST(OllamaChat, HasOllamasDefaults) {
  const auto call = parse_chat(chat(R"("x":1)"));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->generate.delivery, front::Delivery::kStreamed);
  const wire::GenerateMessage& message = call->generate.message;
  EXPECT_EQ(message.sampling.top_p, 0.9);
  EXPECT_EQ(message.sampling.min_p, 0);
  EXPECT_EQ(message.sampling.temperature, 0.8);
  EXPECT_EQ(message.sampling.repeat_penalty, 1);
  EXPECT_TRUE(message.truncate);
  EXPECT_EQ(message.keep, 4);
  EXPECT_EQ(message.max_tokens, -1);
  EXPECT_FALSE(call->generate.options.keep_alive);
  EXPECT_EQ(parse_chat(chat(R"("stream":false)"))->generate.delivery, front::Delivery::kWhole);
  EXPECT_FALSE(parse_chat(chat(R"("truncate":false)"))->generate.message.truncate);
}

TEST(OllamaChat, MessagesTakeTheShapeThatTemplatesRead) {
  const auto call = parse_chat(chat(R"("messages":[
      {"role":"USER","content":"hi","images":[]},
      {"role":"assistant","thinking":"hm","tool_calls":[
         {"id":"c1","function":{"index":0,"name":"f","arguments":{"a":1}}}]},
      {"role":"tool","content":"7","tool_name":"f","tool_call_id":"c1"}])"));
  ASSERT_TRUE(call) << call.error().message();
  EXPECT_EQ(json::parse(call->generate.message.messages), json::parse(R"([
      {"role":"user","content":"hi"},
      {"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[
         {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},
      {"role":"tool","content":"7","name":"f","tool_call_id":"c1"}])"));
}

TEST(OllamaChat, ToolsGetTheirType) {
  const auto call = parse_chat(chat(R"("tools":[{"function":{"name":"f"}}])"));
  ASSERT_TRUE(call);
  EXPECT_EQ(json::parse(call->generate.message.tools),
            json::parse(R"([{"function":{"name":"f"},"type":"function"}])"));
  EXPECT_EQ(call->generate.message.tool_choice, "auto");
  EXPECT_EQ(parse_chat(chat(R"("tools":[])"))->generate.message.tools, "");
}

TEST(OllamaChat, FormatAndThinking) {
  const auto message = [](const char* extra) { return parse_chat(chat(extra))->generate.message; };
  EXPECT_EQ(message(R"("format":"json")").response_schema, "{}");
  EXPECT_EQ(message(R"("format":{"type":"object"})").response_schema, R"({"type":"object"})");
  EXPECT_EQ(message(R"("format":"")").response_schema, "");
  EXPECT_EQ(message(R"("think":true)").thinking, "on");
  EXPECT_EQ(message(R"("think":false)").thinking, "off");
  EXPECT_EQ(message(R"("x":1)").thinking, "");
  EXPECT_EQ(message(R"("think":"medium")").template_kwargs, R"({"reasoning_effort":"medium"})");
  EXPECT_EQ(message(R"("think":"max")").template_kwargs, R"({"reasoning_effort":"high"})");
}

TEST(OllamaGenerate, IsAChatOfOneMessage) {
  const auto call = parse_generate(generate(R"("system":"be kind","context":[1,2])"));
  ASSERT_TRUE(call);
  const wire::GenerateMessage& message = call->generate.message;
  EXPECT_EQ(json::parse(message.messages), json::parse(R"([{"role":"system","content":"be kind"},
      {"role":"user","content":"hi"}])"));
  EXPECT_EQ(message.prompt, "");
  EXPECT_EQ(message.prompt_tokens, (std::vector<int>{1, 2}));
  EXPECT_TRUE(message.return_tokens);
}

TEST(OllamaGenerate, RawTakesThePromptAsItIs) {
  const auto call = parse_generate(generate(R"("raw":true)"));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->generate.message.prompt, "hi");
  EXPECT_EQ(call->generate.message.messages, "");
  EXPECT_TRUE(call->generate.message.add_special);
  EXPECT_FALSE(call->generate.message.return_tokens);
}

TEST(OllamaEmbed, ReadsBothForms) {
  const auto many = parse_embed(embed(R"("input":["a","b"],"dimensions":64,"truncate":false)"));
  ASSERT_TRUE(many);
  EXPECT_EQ(many->message.inputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(many->dimensions, 64);
  EXPECT_FALSE(many->message.truncate);
  const auto one = parse_embeddings(embed(R"("prompt":"p")"));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->message.inputs, (std::vector<std::string>{"p"}));
  EXPECT_TRUE(one->message.truncate);
}

TEST(OllamaModels, NamesAreReadUnderBothWords) {
  const auto read = [](const char* body) { return parse_model(json::parse(body).as_object()); };
  EXPECT_EQ(*read(R"({"model":"m","name":"n"})"), "m");
  EXPECT_EQ(*read(R"({"name":"n"})"), "n");
  EXPECT_EQ(field_of(read("{}")), "model");
  EXPECT_EQ(field_of(read(R"({"model":5})")), "model");
  const auto copy = [](const char* body) { return parse_copy(json::parse(body).as_object()); };
  EXPECT_EQ(copy(R"({"source":"a","destination":"b"})")->destination, "b");
  EXPECT_EQ(field_of(copy(R"({"source":"a"})")), "destination");
}

}  // namespace
}  // namespace hearth::api::ollama

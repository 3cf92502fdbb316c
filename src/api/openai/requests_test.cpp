// SPDX-License-Identifier: Apache-2.0
#include "api/openai/requests.h"

#include <gtest/gtest.h>

namespace hearth::api::openai {
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
json::object completion(const std::string& extra) {
  return with(R"({"model":"m","prompt":"hi"})", extra);
}
json::object embedding(const std::string& extra) {
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

class Chat : public testing::TestWithParam<BodyCase> {};
TEST_P(Chat, IsReadOrNamesTheField) {
  EXPECT_EQ(field_of(parse_chat(chat(GetParam().extra))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, Chat,
    testing::Values(
        BodyCase{"Plain", R"("x":1)", ""}, BodyCase{"NoModel", R"("model":null)", "model"},
        BodyCase{"ModelEmpty", R"("model":"")", "model"},
        BodyCase{"StreamAsText", R"("stream":"yes")", "stream"},
        BodyCase{"UsageAsText", R"("stream_options":{"include_usage":"yes"})",
                 "stream_options.include_usage"},
        BodyCase{"OptionsNull", R"("stream_options":null)", ""}, BodyCase{"NOne", R"("n":1)", ""},
        BodyCase{"NZero", R"("n":0)", "n"}, BodyCase{"NTwo", R"("n":2)", ""},
        BodyCase{"NSixteen", R"("n":16)", ""}, BodyCase{"NSeventeen", R"("n":17)", "n"},
        BodyCase{"BestOf", R"("best_of":3)", "best_of"},
        BodyCase{"Logprobs", R"("logprobs":true,"top_logprobs":20)", ""},
        BodyCase{"LogprobsFalse", R"("logprobs":false)", ""},
        BodyCase{"LogprobsWord", R"("logprobs":"yes")", "logprobs"},
        BodyCase{"LogprobsTooMany", R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
        BodyCase{"NProbs", R"("n_probs":5)", ""},
        BodyCase{"NProbsText", R"("n_probs":"5")", "n_probs"},
        BodyCase{"TopLogprobs", R"("top_logprobs":3)", "top_logprobs"},
        BodyCase{"TopLogprobsNone", R"("top_logprobs":0)", ""},
        BodyCase{"Functions", R"("functions":[{"name":"f"}])", "functions"},
        BodyCase{"FunctionsNone", R"("functions":[],"function_call":"none")", ""},
        BodyCase{"Grammar", R"("grammar":"root ::= [a-z]+")", ""},
        BodyCase{"GrammarBroken", R"("grammar":"root ::= x")", "grammar"},
        BodyCase{"GrammarList", R"("grammar":[])", "grammar"},
        BodyCase{"GrammarWithAFormat",
                 R"("grammar":"root ::= \"a\"","response_format":{"type":"json_object"})",
                 "grammar"},
        BodyCase{"MinTokens", R"("min_tokens":5)", ""},
        BodyCase{"MinTokensNone", R"("min_tokens":0,"grammar":"root ::= \"a\"")", ""},
        BodyCase{"MinTokensNegative", R"("min_tokens":-1)", "min_tokens"},
        BodyCase{"MinTokensOverMost", R"("min_tokens":5,"max_tokens":4)", "min_tokens"},
        BodyCase{"MinTokensInAForm", R"("min_tokens":5,"response_format":{"type":"json_object"})",
                 "min_tokens"},
        BodyCase{"GrammarEmpty", R"("grammar":"")", ""},
        BodyCase{"ProgressOfAWhole", R"("return_progress":true)", "return_progress"},
        BodyCase{"ProgressOff", R"("return_progress":false)", ""},
        BodyCase{"FunctionCall", R"("function_call":"auto")", "function_call"},
        BodyCase{"Audio", R"("modalities":["text","audio"])", "modalities[1]"},
        BodyCase{"TemperatureText", R"("temperature":"hot")", "temperature"},
        BodyCase{"TemperatureHigh", R"("temperature":5.1)", "temperature"},
        BodyCase{"TopP", R"("top_p":1.5)", "top_p"}, BodyCase{"TopK", R"("top_k":1.5)", "top_k"},
        BodyCase{"Presence", R"("presence_penalty":3)", "presence_penalty"},
        BodyCase{"RepeatZero", R"("repeat_penalty":0)", "repeat_penalty"},
        BodyCase{"SeedFraction", R"("seed":1.5)", "seed"},
        BodyCase{"SeedText", R"("seed":"1")", "seed"},
        BodyCase{"MaxTokensNegative", R"("max_tokens":-2)", "max_tokens"},
        BodyCase{"MaxTokensHuge", R"("max_completion_tokens":3000000000)", "max_completion_tokens"},
        BodyCase{"StopNumber", R"("stop":1)", "stop"},
        BodyCase{"StopElement", R"("stop":["a",2])", "stop[1]"},
        BodyCase{"BiasText", R"("logit_bias":{"abc":1})", ""},
        BodyCase{"BiasNoText", R"("logit_bias":{"":1})", "logit_bias."},
        BodyCase{"BiasFalse", R"("logit_bias":{"5":false})", ""},
        BodyCase{"BiasTrue", R"("logit_bias":{"5":true})", "logit_bias.5"},
        BodyCase{"BiasRange", R"("logit_bias":{"5":101})", "logit_bias.5"},
        BodyCase{"BiasList", R"("logit_bias":[[5,1],["abc",false]])", ""},
        BodyCase{"BiasListFlat", R"("logit_bias":[5,1])", "logit_bias[0]"},
        BodyCase{"BiasListNegative", R"("logit_bias":[[5,1],[-5,1]])", "logit_bias[1][0]"},
        BodyCase{"BiasListRange", R"("logit_bias":[[5,101]])", "logit_bias[0][1]"},
        BodyCase{"BiasWord", R"("logit_bias":"x")", "logit_bias"},
        BodyCase{"Kwargs", R"("chat_template_kwargs":[])", "chat_template_kwargs"},
        BodyCase{"KeepAliveText", R"("keep_alive":"1h30m")", ""},
        BodyCase{"KeepAliveNumber", R"("keep_alive":-1)", ""},
        BodyCase{"KeepAliveWord", R"("keep_alive":"abc")", "keep_alive"},
        BodyCase{"KeepAliveSpace", R"("keep_alive":"5 parsecs")", "keep_alive"},
        BodyCase{"KeepAliveHuge", R"("keep_alive":1e300)", "keep_alive"},
        BodyCase{"KeepAliveFlag", R"("keep_alive":true)", "keep_alive"},
        BodyCase{"Ttl", R"("ttl":"x")", "ttl"}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Messages, Chat,
    testing::Values(
        BodyCase{"Null", R"("messages":null)", "messages"},
        BodyCase{"EmptyList", R"("messages":[])", "messages"},
        BodyCase{"Object", R"("messages":{})", "messages"},
        BodyCase{"NoObject", R"("messages":["hi"])", "messages[0]"},
        BodyCase{"NoRole", R"("messages":[{"content":"a"}])", "messages[0].role"},
        BodyCase{"UnknownRole", R"("messages":[{"role":"robot","content":"a"}])",
                 "messages[0].role"},
        BodyCase{"ContentEmpty", R"("messages":[{"role":"user","content":""}])", ""},
        BodyCase{"ContentNull", R"("messages":[{"role":"user","content":null}])",
                 "messages[0].content"},
        BodyCase{"ContentNumber", R"("messages":[{"role":"user","content":5}])",
                 "messages[0].content"},
        BodyCase{"ContentEmptyList", R"("messages":[{"role":"user","content":[]}])",
                 "messages[0].content"},
        BodyCase{"AssistantNull", R"("messages":[{"role":"assistant","content":null}])",
                 "messages[0].content"},
        BodyCase{"AssistantCalls",
                 R"("messages":[{"role":"assistant","content":null,"tool_calls":[
                    {"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}])",
                 ""},
        BodyCase{"AssistantNoCalls",
                 R"("messages":[{"role":"assistant","content":null,"tool_calls":[]}])",
                 "messages[0].content"},
        BodyCase{"CallWithoutName",
                 R"("messages":[{"role":"assistant","tool_calls":[{"function":{}}]}])",
                 "messages[0].tool_calls[0].function.name"},
        BodyCase{"CallOfUser", R"("messages":[{"role":"user","content":"","tool_calls":[{}]}])",
                 "messages[0].tool_calls"},
        BodyCase{"FirstAssistant", R"("messages":[{"role":"assistant","content":"a"}])", ""},
        BodyCase{"OnlySystem", R"("messages":[{"role":"system","content":"a"}])", ""},
        BodyCase{"ImagePart",
                 R"("messages":[{"role":"user","content":"a"},{"role":"user","content":[
                    {"type":"text","text":"a"},
                    {"type":"image_url","image_url":{"url":"http://127.0.0.1:1/"}}]}])",
                 "messages[1].content[1].type"},
        BodyCase{"AudioPart", R"("messages":[{"role":"user","content":[{"type":"input_audio"}]}])",
                 "messages[0].content[0].type"},
        BodyCase{"UnknownPart", R"("messages":[{"role":"user","content":[{"type":"smell"}]}])",
                 "messages[0].content[0].type"},
        BodyCase{"PartNoObject", R"("messages":[{"role":"user","content":["a"]}])",
                 "messages[0].content[0]"},
        BodyCase{"PartWithoutText", R"("messages":[{"role":"user","content":[{"type":"text"}]}])",
                 "messages[0].content[0].text"},
        BodyCase{"Images", R"("messages":[{"role":"user","content":"a","images":["aGk="]}])",
                 "messages[0].images"}),
    kName);

constexpr const char* kTools =
    R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},
                {"type":"function","function":{"name":"g"}}])";

class Tools : public testing::TestWithParam<BodyCase> {};
TEST_P(Tools, IsReadOrNamesTheField) {
  const std::string extra = std::string{kTools} + "," + GetParam().extra;
  EXPECT_EQ(field_of(parse_chat(chat(extra))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Choice, Tools,
    testing::Values(
        BodyCase{"Auto", R"("tool_choice":"auto")", ""},
        BodyCase{"None", R"("tool_choice":"none")", ""},
        BodyCase{"Required", R"("tool_choice":"required")", ""},
        BodyCase{"Known", R"("tool_choice":{"type":"function","function":{"name":"g"}})", ""},
        BodyCase{"Unknown", R"("tool_choice":{"type":"function","function":{"name":"h"}})",
                 "tool_choice.function.name"},
        BodyCase{"NoFunction", R"("tool_choice":{"type":"function"})", "tool_choice.function"},
        BodyCase{"OtherType", R"("tool_choice":{"type":"allowed_tools"})", "tool_choice.type"},
        BodyCase{"Number", R"("tool_choice":5)", "tool_choice"},
        BodyCase{"Word", R"("tool_choice":"any")", "tool_choice"},
        BodyCase{"RequiredOfNone", R"("tools":[],"tool_choice":"required")", "tool_choice"},
        BodyCase{"KnownOfNone",
                 R"("tools":[],"tool_choice":{"type":"function","function":{"name":"f"}})",
                 "tool_choice.function.name"},
        BodyCase{"AutoOfNone", R"("tools":[],"tool_choice":"auto")", ""},
        BodyCase{"Twice",
                 R"("tools":[{"type":"function","function":{"name":"f"}},
                             {"type":"function","function":{"name":"f"}}])",
                 "tools[1].function.name"},
        BodyCase{"BadParameters",
                 R"("tools":[{"type":"function","function":{"name":"f","parameters":[]}}])",
                 "tools[0].function.parameters"},
        BodyCase{"BadType", R"("tools":[{"type":"web_search"}])", "tools[0].type"},
        BodyCase{"ToolNoObject", R"("tools":["f"])", "tools[0]"},
        BodyCase{"Parallel", R"("parallel_tool_calls":"no")", "parallel_tool_calls"},
        BodyCase{"FormatText", R"("response_format":{"type":"text"})", ""},
        BodyCase{"FormatWord", R"("response_format":"json")", "response_format"},
        BodyCase{"FormatType", R"("response_format":{"type":"xml"})", "response_format.type"},
        BodyCase{"SchemaMissing", R"("response_format":{"type":"json_schema"})",
                 "response_format.json_schema"},
        BodyCase{"SchemaText",
                 R"("response_format":{"type":"json_schema","json_schema":{"schema":"{}"}})",
                 "response_format.json_schema.schema"}),
    kName);

TEST(ParseChat, FillsTheMessage) {
  const auto call = parse_chat(chat(R"("stream":true,"stream_options":{"include_usage":true},
    "seed":4294967298,"temperature":0,"top_k":5,"stop":["a","","b"],"max_tokens":7,
    "max_completion_tokens":9,"logit_bias":{"12":-100},"ignore_eos":true,"cache_prompt":false,
    "chat_template_kwargs":{"enable_thinking":false},"return_progress":true)"));
  ASSERT_TRUE(call);
  const wire::GenerateMessage& message = call->generate.message;
  EXPECT_EQ(call->generate.delivery, front::Delivery::kStreamed);
  EXPECT_EQ(call->usage, UsageChunk::kYes);
  EXPECT_TRUE(call->generate.options.return_progress);
  EXPECT_EQ(message.sampling.seed, 2U);
  EXPECT_EQ(message.sampling.temperature, 0);
  EXPECT_EQ(message.sampling.top_k, 5);
  EXPECT_EQ(message.sampling.top_p, wire::Sampling{}.top_p);
  EXPECT_EQ(message.sampling.logit_bias.at(12), -100);
  EXPECT_EQ(message.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(message.max_tokens, 9);
  EXPECT_TRUE(message.ignore_eos);
  EXPECT_FALSE(message.cache_prompt);
  EXPECT_EQ(message.template_kwargs, R"({"enable_thinking":false})");
  EXPECT_EQ(message.messages, R"([{"role":"user","content":"hi"}])");
}

TEST(ParseChat, DefaultsAreTheEngines) {
  const auto call = parse_chat(chat(R"("seed":null,"max_tokens":null)"));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->generate.delivery, front::Delivery::kWhole);
  EXPECT_FALSE(call->generate.message.sampling.seed);
  EXPECT_EQ(call->generate.message.max_tokens, -1);
  EXPECT_TRUE(call->generate.message.cache_prompt);
  EXPECT_TRUE(call->generate.message.tools.empty());
}

TEST(ParseChat, NormalisesMessages) {
  const auto call = parse_chat(chat(R"("messages":[
    {"role":"developer","content":"be kind","x":1},
    {"role":"user","name":"me","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
    {"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"k":1}}}]},
    {"role":"tool","tool_call_id":"t","content":"42"}])"));
  ASSERT_TRUE(call);
  EXPECT_EQ(json::parse(call->generate.message.messages), json::parse(R"([
    {"role":"system","content":"be kind"},
    {"role":"user","content":"a\nb","name":"me"},
    {"role":"assistant","content":null,"tool_calls":[
      {"type":"function","function":{"name":"f","arguments":"{\"k\":1}"}}]},
    {"role":"tool","content":"42","tool_call_id":"t"}])"));
}

TEST(ParseChat, AChosenFunctionIsTheOnlyTool) {
  const auto call = parse_chat(
      chat(std::string{kTools} + R"(,"tool_choice":{"type":"function","function":{"name":"g"}})"));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->generate.message.tools, R"([{"type":"function","function":{"name":"g"}}])");
  EXPECT_EQ(call->generate.message.tool_choice, "required");
}

TEST(ParseChat, ResponseFormats) {
  const auto schema = [](const std::string& extra) {
    const auto call = parse_chat(chat(extra));
    return call ? call->generate.message.response_schema : call.error().message();
  };
  EXPECT_EQ(schema(R"("response_format":{"type":"text"})"), "");
  EXPECT_EQ(schema(R"("response_format":{"type":"json_object"})"), "{}");
  EXPECT_EQ(schema(R"("response_format":{"type":"json_object","schema":{"a":1}})"), R"({"a":1})");
  EXPECT_EQ(schema(R"("response_format":{"type":"json_schema","json_schema":{"name":"n",
                      "schema":{"type":"object"}}})"),
            R"({"type":"object"})");
}

TEST(ParseChat, StopsAreLimited) {
  const auto stops = [](int count) {
    std::string list = R"("stop":["s")";
    for (int i = 1; i < count; ++i) list += R"(,"s")";
    return field_of(parse_chat(chat(list + "]")));
  };
  EXPECT_EQ(stops(20), "");
  EXPECT_EQ(stops(64), "");
  EXPECT_EQ(stops(65), "stop");
}

class Completion : public testing::TestWithParam<BodyCase> {};
TEST_P(Completion, IsReadOrNamesTheField) {
  EXPECT_EQ(field_of(parse_completion(completion(GetParam().extra))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, Completion,
    testing::Values(BodyCase{"Text", R"("prompt":"a")", ""},
                    BodyCase{"Empty", R"("prompt":"")", ""},
                    BodyCase{"Absent", R"("prompt":null)", "prompt"},
                    BodyCase{"ListOfOne", R"("prompt":["a"])", ""},
                    BodyCase{"ListOfTwo", R"("prompt":["a","b"])", "prompt"},
                    BodyCase{"EmptyList", R"("prompt":[])", "prompt"},
                    BodyCase{"Tokens", R"("prompt":[1,2])", ""},
                    BodyCase{"TokensNested", R"("prompt":[[1,2]])", ""},
                    BodyCase{"TokenNegative", R"("prompt":[1,-2])", "prompt[1]"},
                    BodyCase{"TokenText", R"("prompt":[1,"a"])", "prompt[1]"},
                    BodyCase{"ListOfNull", R"("prompt":[null])", "prompt[0]"},
                    BodyCase{"Number", R"("prompt":5)", "prompt"},
                    BodyCase{"Suffix", R"("suffix":"x")", ""},
                    BodyCase{"SuffixOfTokens", R"("prompt":[1],"suffix":"x")", "suffix"},
                    BodyCase{"SuffixEmpty", R"("suffix":"")", ""},
                    BodyCase{"LogprobsZero", R"("logprobs":0)", ""},
                    BodyCase{"Logprobs", R"("logprobs":21)", "logprobs"},
                    BodyCase{"LogprobsFalse", R"("logprobs":false)", ""},
                    BodyCase{"LogprobsTrue", R"("logprobs":true)", "logprobs"},
                    BodyCase{"LogprobsOfAnEcho", R"("logprobs":1,"echo":true)", "echo"},
                    BodyCase{"BestOf", R"("best_of":3,"n":2)", ""},
                    BodyCase{"BestOfEqual", R"("best_of":2,"n":2)", ""},
                    BodyCase{"BestOfFewer", R"("best_of":2,"n":3)", "best_of"},
                    BodyCase{"BestOfNone", R"("best_of":0)", "best_of"},
                    BodyCase{"BestOfMany", R"("best_of":17)", "best_of"},
                    BodyCase{"BestOfStreamed", R"("best_of":2,"stream":true)", "best_of"},
                    BodyCase{"BestOfOneStreamed", R"("best_of":1,"stream":true)", ""},
                    BodyCase{"Echo", R"("echo":"yes")", "echo"}),
    kName);

TEST(ParseCompletion, FillsThePrompt) {
  EXPECT_EQ(parse_completion(completion(R"("prompt":["a\u0000b"])"))->generate.message.prompt,
            (std::string{"a\0b", 3}));
  const auto tokens = parse_completion(completion(R"("prompt":[[3,4]],"echo":true)"));
  EXPECT_EQ(tokens->generate.message.prompt_tokens, (std::vector<int>{3, 4}));
  EXPECT_TRUE(tokens->generate.message.prompt.empty());
  EXPECT_TRUE(tokens->generate.message.echo);
}

TEST(ParseCompletion, ReadsBiasesByTokenAndByText) {
  for (const char* extra : {R"("logit_bias":{"5":2,"7":false," fox":-3})",
                            R"("logit_bias":[[5,2],[7,false],[" fox",-3]])"}) {
    const auto call = parse_completion(completion(extra));
    const wire::Sampling& sampling = call->generate.message.sampling;
    EXPECT_EQ(sampling.logit_bias.at(5), 2);
    EXPECT_EQ(sampling.logit_bias.at(7), wire::Sampling::kBan);
    ASSERT_EQ(sampling.text_bias.size(), 1U);
    EXPECT_EQ(sampling.text_bias[0].text, " fox");
    EXPECT_EQ(sampling.text_bias[0].bias, -3);
  }
}

TEST(ParseCompletion, ReadsHowManyChoices) {
  const auto call = parse_completion(completion(R"("n":2,"best_of":5)"));
  EXPECT_EQ(call->choices.asked, 2);
  EXPECT_EQ(call->choices.written, 5);
  EXPECT_FALSE(call->choices.tells_logprobs);
  EXPECT_EQ(call->generate.message.logprobs, 0) << "they say which are best";
  EXPECT_TRUE(parse_completion(completion(R"("best_of":5,"logprobs":1)"))->choices.tells_logprobs);
  EXPECT_TRUE(parse_completion(completion(R"("best_of":1)"))->choices.single());
}

TEST(ParseCompletion, ReadsHowManyLogprobs) {
  const auto logprobs = [](const char* extra) {
    return parse_completion(completion(extra))->generate.message.logprobs;
  };
  EXPECT_EQ(logprobs(R"("prompt":"a")"), std::nullopt);
  EXPECT_EQ(logprobs(R"("logprobs":0)"), 0);
  EXPECT_EQ(logprobs(R"("logprobs":5)"), 5);
  EXPECT_EQ(logprobs(R"("n_probs":3)"), 3);
  EXPECT_EQ(logprobs(R"("n_probs":0)"), std::nullopt);
}

class Embedding : public testing::TestWithParam<BodyCase> {};
TEST_P(Embedding, IsReadOrNamesTheField) {
  EXPECT_EQ(field_of(parse_embedding(embedding(GetParam().extra))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, Embedding,
    testing::Values(BodyCase{"Text", R"("input":"a")", ""},
                    BodyCase{"List", R"("input":["a","b"])", ""},
                    BodyCase{"Absent", R"("input":null)", "input"},
                    BodyCase{"Empty", R"("input":"")", "input"},
                    BodyCase{"EmptyList", R"("input":[])", "input"},
                    BodyCase{"EmptyElement", R"("input":["a",""])", "input[1]"},
                    BodyCase{"Tokens", R"("input":[1,2])", "input[0]"},
                    BodyCase{"NestedTokens", R"("input":[[1,2]])", "input[0]"},
                    BodyCase{"Base64", R"("encoding_format":"base64")", ""},
                    BodyCase{"Format", R"("encoding_format":"hex")", "encoding_format"},
                    BodyCase{"Progress", R"("return_progress":true)", "return_progress"},
                    BodyCase{"Dimensions", R"("dimensions":0)", "dimensions"}),
    kName);

}  // namespace
}  // namespace hearth::api::openai

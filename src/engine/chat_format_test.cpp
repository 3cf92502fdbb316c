// SPDX-License-Identifier: Apache-2.0
#include "engine/chat_format.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/engine_log.h"
#include "engine/sampler.h"
#include "engine/test_models.h"

namespace hearth::engine {
namespace {

constexpr const char* kHello = R"([{"role":"user","content":"Hello"}])";
constexpr const char* kWeather =
    R"([{"type":"function","function":{"name":"weather","description":"w",
  "parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}])";

// Templates that reason: one when it is told to, one always.
constexpr const char* kTurns =
    R"({%- for m in messages %}{{- '<|im_start|>' + m.role + '\n' }}
{%- if m.role == 'assistant' and m.reasoning_content %}
{{- '<think>\n' + m.reasoning_content + '\n</think>\n\n' }}{%- endif %}
{{- m.content + '<|im_end|>\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }})";
const std::string kReasonsOnDemand = std::string{kTurns} +
                                     R"({%- if enable_thinking is defined and not enable_thinking %}
{{- '<think>\n\n</think>\n\n' }}{%- endif %}{%- endif %})";
const std::string kReasonsAlways = std::string{kTurns} + R"({{- '<think>\n' }}{%- endif %})";

class ChatFormatTest : public testing::Test {
 protected:
  void open(const std::string& path, const std::string& own = "") {
    route_engine_log();
    vocabulary_ = std::move(*Vocabulary::open({path}));
    format_ = std::move(*ChatFormat::open(*vocabulary_, own));
  }
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<ChatFormat> format_;
};

TEST_F(ChatFormatTest, RendersTheModelsTemplateAsPlainText) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  open(path);
  EXPECT_TRUE(format_->is_from_model());
  const auto chat = format_->render({kHello, "", "", "", ""});
  ASSERT_TRUE(chat) << chat.error().message();
  EXPECT_NE(chat->prompt.find("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"),
            std::string::npos);
  EXPECT_EQ(chat->parser, nullptr);
  EXPECT_TRUE(chat->constraint.grammar.empty());
}

TEST_F(ChatFormatTest, AModelWithoutATemplateGetsChatMl) {
  HEARTH_MODEL_OR_SKIP(path, test::kGemma);
  open(path);
  EXPECT_FALSE(format_->is_from_model());
  EXPECT_EQ(format_->render({kHello, "", "", "", ""})->prompt,
            "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(ChatFormatTest, ContentMayComeInParts) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  open(path);
  const auto chat = format_->render(
      {R"([{"role":"user","content":[{"type":"text","text":"Hello"}]}])", "", "", "", ""});
  ASSERT_TRUE(chat) << chat.error().message();
  EXPECT_EQ(chat->prompt, format_->render({kHello, "", "", "", ""})->prompt);
}

TEST_F(ChatFormatTest, ASchemaGivesAGrammarThatCanBeSampled) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  open(path);
  for (const char* schema : {R"({"type":"object","properties":{"a":{"type":"integer"}}})", "{}"}) {
    const auto chat = format_->render({kHello, "", "", schema, ""});
    ASSERT_TRUE(chat) << chat.error().message();
    EXPECT_FALSE(chat->constraint.grammar.empty());
    EXPECT_EQ(chat->constraint.grammar.find("```"), std::string::npos);
    EXPECT_TRUE(Sampler::create(*vocabulary_, {}, chat->constraint));
    const auto raw = constrain_to_schema(schema);
    ASSERT_TRUE(raw);
    EXPECT_TRUE(Sampler::create(*vocabulary_, {}, *raw));
  }
}

TEST_F(ChatFormatTest, ToolsNeedATemplateThatCanCall) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  open(path);
  EXPECT_TRUE(format_->render({kHello, kWeather, "none", "", ""}));
  EXPECT_FALSE(format_->render({kHello, kWeather, "auto", "", ""}));
  const auto chat = format_->render({kHello, kWeather, "required", "", ""});
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(chat.error().field(), "tools");
}

ChatRequest hello(Thinking thinking) { return {kHello, "", "", "", "", thinking}; }

TEST_F(ChatFormatTest, ReasoningNeedsATemplateThatKnowsIt) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  open(path);
  EXPECT_FALSE(format_->thinks());
  EXPECT_FALSE(format_->calls_tools());
  const auto chat = format_->render(hello(Thinking::kOn));
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(chat.error().field(), "think");
  const auto off = format_->render(hello(Thinking::kOff));
  ASSERT_TRUE(off) << off.error().message();
  EXPECT_EQ(off->prompt, format_->render(hello(Thinking::kByItself))->prompt);
}

struct ThinkingCase {
  const char* name;
  const std::string& own;
  Thinking thinking;
  std::string prompt_end;
  std::string answer;
  std::string reasoning;  // the parser's
};
class ThinkingTemplates : public ChatFormatTest,
                          public testing::WithParamInterface<ThinkingCase> {};

TEST_P(ThinkingTemplates, SplitsReasoningFromText) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  open(path, GetParam().own);
  EXPECT_TRUE(format_->thinks());
  const auto chat = format_->render(hello(GetParam().thinking));
  ASSERT_TRUE(chat) << chat.error().message();
  EXPECT_TRUE(chat->prompt.ends_with(GetParam().prompt_end)) << chat->prompt;
  ASSERT_NE(chat->parser, nullptr);
  OutputDelta all = chat->parser->feed(GetParam().answer);
  const OutputDelta rest = chat->parser->finish();
  EXPECT_EQ(all.text + rest.text, "Good day");
  EXPECT_EQ(all.reasoning + rest.reasoning, GetParam().reasoning);
}

constexpr const char* kShort = "assistant\n";
constexpr const char* kClosed = "assistant\n<think>\n\n</think>\n\n";
INSTANTIATE_TEST_SUITE_P(
    Templates, ThinkingTemplates,
    testing::Values(ThinkingCase{"On", kReasonsOnDemand, Thinking::kOn, kShort,
                                 "<think>\nHm.\n</think>\n\nGood day", "Hm.\n"},
                    ThinkingCase{"ByItself", kReasonsOnDemand, Thinking::kByItself, kShort,
                                 "<think>\nHm.\n</think>\n\nGood day", "Hm.\n"},
                    ThinkingCase{"Off", kReasonsOnDemand, Thinking::kOff, kClosed, "Good day", ""},
                    ThinkingCase{"AlwaysOn", kReasonsAlways, Thinking::kOn, "assistant\n<think>\n",
                                 "Hm.\n</think>\n\nGood day", "Hm.\n"},
                    ThinkingCase{"AlwaysByItself", kReasonsAlways, Thinking::kByItself,
                                 "assistant\n<think>\n", "Hm.\n</think>\n\nGood day", "Hm.\n"},
                    ThinkingCase{"AlwaysOff", kReasonsAlways, Thinking::kOff, kClosed, "Good day",
                                 ""}),
    [](const auto& test) { return std::string{test.param.name}; });

struct BadCase {
  const char* name;
  ChatRequest request;
  const char* field;
};
class BadChat : public ChatFormatTest, public testing::WithParamInterface<BadCase> {};

TEST_P(BadChat, NamesTheField) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  open(path);
  const auto chat = format_->render(GetParam().request);
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(chat.error().field(), GetParam().field);
  EXPECT_FALSE(chat.error().message().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadChat,
    testing::Values(
        BadCase{"NotJson", {"[", "", "", "", ""}, "messages"},
        BadCase{"NotAList", {"{}", "", "", "", ""}, "messages"},
        BadCase{"NoRole", {R"([{"content":"x"}])", "", "", "", ""}, "messages"},
        BadCase{"Number", {R"([{"role":"user","content":5}])", "", "", "", ""}, "messages"},
        BadCase{"Tools", {kHello, R"([{"type":"x"}])", "", "", ""}, "tools"},
        BadCase{"Choice", {kHello, kWeather, "perhaps", "", ""}, "tools"},
        BadCase{"Schema", {kHello, "", "", R"({"type":"nothing"})", ""}, "response_format"},
        BadCase{"SchemaText", {kHello, "", "", "{", ""}, "response_format"},
        BadCase{"Reference", {kHello, "", "", R"({"$ref":"#/none"})", ""}, "response_format"}),
    [](const auto& test) { return std::string{test.param.name}; });

}  // namespace
}  // namespace hearth::engine

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

class ChatFormatTest : public testing::Test {
 protected:
  void open(const std::string& path) {
    route_engine_log();
    vocabulary_ = std::move(*Vocabulary::open({path}));
    format_ = std::move(*ChatFormat::open(*vocabulary_));
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

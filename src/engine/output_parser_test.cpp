// SPDX-License-Identifier: Apache-2.0
#include "engine/output_parser.h"

#include <chat.h>
#include <gtest/gtest.h>

#include <string>

namespace hearth::engine {
namespace {

// As Qwen's family writes: reasoning in tags, calls as JSON in tags.
constexpr const char* kTemplate =
    "{%- if tools %}<|im_start|>system\n# Tools\n<tools>{% for tool in tools %}{{ tool | tojson "
    "}}{% "
    "endfor %}</tools>\nFor each call give <tool_call>\n{\"name\": ..., \"arguments\": ...}\n"
    "</tool_call><|im_end|>\n{% endif %}{%- for m in messages %}<|im_start|>{{ m.role }}\n{{ "
    "m.content }}"
    "{%- if m.tool_calls %}{% for c in m.tool_calls %}\n<tool_call>\n{\"name\": \"{{ "
    "c.function.name "
    "}}\", \"arguments\": {{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

std::unique_ptr<OutputParser> parser_with_tools() {
  const auto templates = common_chat_templates_init(nullptr, kTemplate);
  common_chat_templates_inputs inputs;
  common_chat_msg hello;
  hello.role = "user";
  hello.content = "Weather in Rome?";
  inputs.messages = {hello};
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  inputs.tools = {
      {"weather", "says the weather",
       R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})"}};
  const auto chat = common_chat_templates_apply(templates.get(), inputs);
  return OutputParser::create({chat.format, chat.parser, chat.generation_prompt, true});
}

struct Read {
  std::string text, arguments, name, id;
};

Read read(OutputParser& parser, const std::string& answer, std::size_t cut) {
  Read out;
  const auto take = [&](const OutputDelta& delta) {
    out.text += delta.text;
    for (const ToolCallPart& part : delta.tool_calls) {
      out.arguments += part.arguments;
      if (!part.name.empty()) out.name = part.name;
      if (!part.id.empty()) out.id = part.id;
    }
  };
  for (std::size_t at = 0; at < answer.size(); at += cut) take(parser.feed(answer.substr(at, cut)));
  take(parser.finish());
  return out;
}

TEST(OutputParser, PlainFormatsNeedNone) {
  EXPECT_EQ(OutputParser::create({COMMON_CHAT_FORMAT_CONTENT_ONLY, "", "", false}), nullptr);
}

TEST(OutputParser, FindsACallHoweverThePiecesCutIt) {
  for (const std::size_t cut : {1, 3, 1000}) {
    const auto parser = parser_with_tools();
    ASSERT_NE(parser, nullptr);
    const Read answer = read(
        *parser,
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>",
        cut);
    EXPECT_EQ(answer.name, "weather") << cut;
    EXPECT_EQ(answer.arguments.find("\"Rome\"") != std::string::npos, true) << answer.arguments;
    EXPECT_FALSE(answer.id.empty());
    EXPECT_TRUE(parser->called_tools());
  }
}

TEST(OutputParser, TextStaysText) {
  const auto parser = parser_with_tools();
  ASSERT_NE(parser, nullptr);
  EXPECT_EQ(read(*parser, "It is warm in Rome.", 4).text, "It is warm in Rome.");
  EXPECT_FALSE(parser->called_tools());
}

TEST(OutputParser, AnAnswerCutShortIsNotLost) {
  const auto parser = parser_with_tools();
  ASSERT_NE(parser, nullptr);
  const Read answer = read(*parser, "<tool_call>\n{\"name\": \"wea", 5);
  EXPECT_FALSE(answer.text.empty() && answer.name.empty());
}

}  // namespace
}  // namespace hearth::engine

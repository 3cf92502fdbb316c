// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/modelfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "layers/testing/mutated_text.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

boost::json::value json_value(const std::string& text) { return parse_json(text).value(); }

// Written after Ollama's description of the format (its repository: docs/modelfile.md) and the
// cases in its parser's tests (parser/parser_test.go).
TEST(Modelfile, AllInstructions) {
  const auto file = parse_modelfile(
      "\xEF\xBB\xBF# a comment\r\n"
      "from  ./model.gguf \r\n"
      "\r\n"
      "PARAMETER temperature 0.7\r\n"
      "PARAMETER num_ctx 4096\r\n"
      "PARAMETER stop \"<|end|>\"\r\n"
      "Parameter stop <|eot|>\r\n"
      "PARAMETER use_mmap true\r\n"
      "SYSTEM \"\"\"You are\r\n"
      "a \"cat\".\"\"\"\r\n"
      "TEMPLATE \"\"\"{{ .System }}\r\n"
      "{{ .Prompt }}\r\n"
      "\"\"\"\r\n"
      "ADAPTER ./lora.gguf\r\n"
      "ADAPTER ./second.gguf\r\n"
      "LICENSE one\r\n"
      "LICENSE \"two\"\r\n"
      "MESSAGE user Hello there\r\n"
      "MESSAGE assistant \"\"\"Hi\r\n"
      "you\"\"\"");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->from, "./model.gguf");
  EXPECT_THAT(file->adapters, ElementsAre("./lora.gguf", "./second.gguf"));
  EXPECT_EQ(file->settings.system, "You are\na \"cat\".");
  EXPECT_EQ(file->settings.chat_template, "{{ .System }}\n{{ .Prompt }}\n");
  EXPECT_EQ(file->settings.license, "one\n\ntwo");
  EXPECT_EQ(json_value(file->settings.parameters),
            json_value(R"({"temperature": 0.7, "num_ctx": 4096, "stop": ["<|end|>", "<|eot|>"],
                           "use_mmap": true})"));
  EXPECT_EQ(json_value(file->settings.messages),
            json_value(R"([{"role": "user", "content": "Hello there"},
                           {"role": "assistant", "content": "Hi\nyou"}])"));
  EXPECT_THAT(file->notes, ElementsAre(HasSubstr("line 8 of the Modelfile: PARAMETER use_mmap")));
}

struct BadCase {
  std::string text;
  std::string says;
};

class BadModelfile : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadModelfile, IsRefusedWithItsLine) {
  const auto file = parse_modelfile(GetParam().text);
  ASSERT_FALSE(file) << GetParam().text;
  EXPECT_EQ(file.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(file.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadModelfile,
    ::testing::Values(
        BadCase{"", "no FROM"}, BadCase{"# FROM x", "no FROM"}, BadCase{"SYSTEM x", "no FROM"},
        BadCase{"FROM x\n\nSISTEM y",
                "line 3 of the Modelfile: there is no instruction \"SISTEM\"; "
                "did you mean \"SYSTEM\"?"},
        BadCase{"FROM x\rFORM y", "line 2"}, BadCase{"FROM x\n/etc/passwd", "line 2"},
        BadCase{"FROM", "FROM names nothing"}, BadCase{"FROM x\nADAPTER ", "ADAPTER names nothing"},
        BadCase{"FROM x\nFROM y", "second FROM"}, BadCase{"FROM x\nPARAMETER", "name and a value"},
        BadCase{"FROM x\nPARAMETER top_k", "no value"},
        BadCase{"FROM x\nPARAMETER top_k 1.5", "line 2 of the Modelfile: top_k must be a whole"},
        BadCase{"FROM x\nPARAMETER top_p much", "must be a number"},
        BadCase{"FROM x\nPARAMETER top_p nan", "must be a number"},
        BadCase{"FROM x\nPARAMETER use_mmap maybe", "true or false"},
        BadCase{"FROM x\nMESSAGE tool x", "system, user or assistant"},
        BadCase{"FROM x\n\nSYSTEM \"\"\"a\nb\n", "line 3"}, BadCase{"FROM \"x", "line 1"},
        BadCase{std::string{"FROM x\0", 7}, "UTF-8"}, BadCase{"FROM \xFF", "UTF-8"},
        BadCase{std::string(9 << 20, 'a'), "8 MiB"}));

TEST(Modelfile, WhatHasNoEffectIsNoted) {
  const auto file = parse_modelfile(
      "FROM x\nPARAMETER temprature 1\nPARAMETER flag true\nRENDERER r\nREQUIRES 0.14\n");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_THAT(file->notes,
              ElementsAre(HasSubstr("did you mean \"temperature\"?"), HasSubstr("PARAMETER flag"),
                          HasSubstr("RENDERER"), HasSubstr("REQUIRES")));
  EXPECT_EQ(json_value(file->settings.parameters), json_value(R"({"temprature":1,"flag":true})"));
}

TEST(Modelfile, IsWrittenAsItIsRead) {
  Modelfile file;
  file.from = "llama3.2:1b";
  file.adapters = {"/a b/lora.gguf"};
  file.settings.system = "  a \"quoted\"\nline ";
  file.settings.chat_template = "{% for m in messages %}\n{{ m }}\n{% endfor %}\n";
  file.settings.parameters = json_of(ModelSettings{});
  file.settings.parameters =
      R"({"temperature":0.7,"num_ctx":4096,"stop":["\"","a b"],"numa":true})";
  file.settings.messages = R"([{"role":"user","content":"x\ny"}])";
  file.settings.license = "#no comment";
  const std::string text = to_modelfile(file);
  EXPECT_THAT(text, HasSubstr("PARAMETER temperature 0.7\n"));
  const auto again = parse_modelfile(text);
  ASSERT_TRUE(again) << again.error().message() << text;
  EXPECT_EQ(again->from, file.from);
  EXPECT_EQ(again->adapters, file.adapters);
  EXPECT_EQ(again->settings.system, file.settings.system);
  EXPECT_EQ(again->settings.chat_template, file.settings.chat_template);
  EXPECT_EQ(again->settings.license, file.settings.license);
  EXPECT_EQ(json_value(again->settings.parameters), json_value(file.settings.parameters));
  EXPECT_EQ(again->settings.messages, file.settings.messages);
}

// A text from elsewhere must not become an instruction when somebody makes a model of what `show`
// wrote.
TEST(Modelfile, NoTextBreaksOut) {
  Random random{9};
  const std::string pieces[] = {"\"", "\"\"\"", "\n", " ", "\r\n", "FROM /etc/passwd", "#", "x"};
  for (int i = 0; i < 2000; ++i) {
    Modelfile file;
    file.from = "base";
    for (int n = 0; n < 6; ++n) file.settings.system += pieces[random.next() % 8];
    const auto again = parse_modelfile(to_modelfile(file));
    ASSERT_TRUE(again) << again.error().message() << "\n" << to_modelfile(file);
    EXPECT_EQ(again->from, "base");
    std::string plain;
    for (const char c : file.settings.system) plain += c == '\r' ? "" : std::string(1, c);
    EXPECT_TRUE(again->settings.system.empty() || again->settings.system == plain);
  }
}

TEST(Modelfile, MutatedOnesAreHarmless) {
  Random random{10};
  const std::string good =
      "FROM x\nPARAMETER stop \"a\"\nSYSTEM \"\"\"a\nb\"\"\"\nMESSAGE user hi\nLICENSE l\n";
  for (int i = 0; i < 2000; ++i) {
    const auto file = parse_modelfile(testing::mutated(good, random));
    EXPECT_TRUE(!file || !file->from.empty());
  }
}

}  // namespace
}  // namespace hearth

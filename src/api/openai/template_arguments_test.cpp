// SPDX-License-Identifier: Apache-2.0
#include "api/openai/template_arguments.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::api::openai {
namespace {

struct Read {
  std::string thinking, arguments, field;
};

Read read(const std::string& text) {
  const boost::json::value body = boost::json::parse(text);
  Fields::FirstError error;
  wire::GenerateMessage message;
  read_template_arguments(Fields{body.get_object(), "", error}, message);
  return {message.thinking, message.template_kwargs, error ? error->field() : std::string{}};
}

TEST(TemplateArguments, EffortIsTheTemplatesWord) {
  EXPECT_EQ(read(R"({"reasoning_effort":"medium"})").arguments, R"({"reasoning_effort":"medium"})");
  EXPECT_EQ(read(R"({"reasoning_effort":"minimal"})").arguments, R"({"reasoning_effort":"low"})");
  EXPECT_EQ(read(R"({"reasoning_effort":"xhigh"})").arguments, R"({"reasoning_effort":"high"})");
  EXPECT_EQ(read(R"({"reasoning_effort":"none"})").thinking, "off");
  EXPECT_EQ(read(R"({"reasoning_effort":"none"})").arguments, "");
}

TEST(TemplateArguments, WhatIsSaidForTheTemplateWins) {
  const Read both = read(
      R"({"reasoning_effort":"low","chat_template_kwargs":{"reasoning_effort":"high","a":1}})");
  EXPECT_EQ(both.arguments, R"({"reasoning_effort":"high","a":1})");
}

TEST(TemplateArguments, MistakesAreNamed) {
  EXPECT_EQ(read(R"({"reasoning_effort":"much"})").field, "reasoning_effort");
  EXPECT_EQ(read(R"({"reasoning_effort":3})").field, "reasoning_effort");
  EXPECT_EQ(read(R"({"chat_template_kwargs":[]})").field, "chat_template_kwargs");
}

}  // namespace
}  // namespace hearth::api::openai

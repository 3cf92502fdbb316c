// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/model_settings.h"

#include <gtest/gtest.h>

#include "layers/artifact/origin.h"
#include "layers/testing/mutated_text.h"

namespace hearth {
namespace {

struct TemplateCase {
  std::string text;
  bool jinja;
};

class ChatTemplate : public ::testing::TestWithParam<TemplateCase> {};

// A registry may send what it likes; this took minutes.
TEST(ChatTemplates, NothingButBracesTakesNoTime) {
  EXPECT_TRUE(is_jinja(std::string(1'000'000, '{')));
}

TEST_P(ChatTemplate, IsToldApart) { EXPECT_EQ(is_jinja(GetParam().text), GetParam().jinja); }

INSTANTIATE_TEST_SUITE_P(
    Table, ChatTemplate,
    ::testing::Values(TemplateCase{"", false}, TemplateCase{"plain text", false},
                      TemplateCase{"{% for m in messages %}{{ m.content }}{% endfor %}", true},
                      TemplateCase{"{{- bos_token -}}{% if x %}{% endif %}", true},
                      TemplateCase{"{{ messages[0]['content'] }}", true},
                      TemplateCase{"{{ .System }} {{ .Prompt }}", false},
                      TemplateCase{"{{- range $i, $m := .Messages }}{{ end }}", false},
                      TemplateCase{"{{if .System}}x{{end}}", false},
                      TemplateCase{"[INST] {{ if .System }}{% raw %}{{ end }}", false},
                      TemplateCase{"{{$last := 1}}", false}, TemplateCase{"{{", true}));

TEST(ModelSettings, SurviveTheWayThroughJson) {
  const ModelSettings settings{"a \"b\"\n", R"({"stop":["x"]})", "{{ .Prompt }}", "MIT", "[]"};
  const auto again = settings_of(json_of(settings));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, settings);
  EXPECT_EQ(json_of(ModelSettings{}), "{}");
  EXPECT_TRUE(settings_of("{}")->empty());
  for (const char* bad : {"", "[]", R"({"system":1})", R"({"parameters":"[]"})",
                          R"({"parameters":"{"})", R"({"messages":"{}"})"}) {
    ASSERT_FALSE(settings_of(bad)) << bad;
    EXPECT_EQ(settings_of(bad).error().code(), ErrorCode::kCorrupt);
  }
}

TEST(Origin, SurvivesTheWayThroughJson) {
  const Origin origin{
      "hf.co/org/repo:Q8_0",
      "5fab1e0c",
      {{"a.gguf", "https://h.example/a.gguf", std::string(64, 'a'), "\"e\"", Bytes{1ull << 40}}}};
  const auto again = origin_of(json_of(origin));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, origin);
  EXPECT_TRUE(again->known());
  EXPECT_FALSE(origin_of(json_of(Origin{}))->known());
  Random random{11};
  for (int i = 0; i < 2000; ++i) {
    const auto mutated = origin_of(testing::mutated(json_of(origin), random));
    EXPECT_TRUE(mutated || mutated.error().code() == ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace hearth

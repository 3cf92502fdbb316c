// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct ComposeCase {
  const char* name;
  std::vector<std::string> texts;
  const char* messages;
  const char* composed;
};

class WithModules : public testing::TestWithParam<ComposeCase> {};

TEST_P(WithModules, PutsTextsFirst) {
  const auto composed = with_modules(GetParam().messages, GetParam().texts);
  ASSERT_TRUE(composed) << composed.error().message();
  EXPECT_EQ(*composed, GetParam().composed);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, WithModules,
    testing::Values(
        ComposeCase{"NoSystemMessage",
                    {"A"},
                    R"([{"role":"user","content":"hi"}])",
                    R"([{"role":"system","content":"A"},{"role":"user","content":"hi"}])"},
        ComposeCase{
            "SeveralInTheirOrder",
            {"B", "A", "C"},
            R"([{"role":"user","content":"hi"}])",
            R"([{"role":"system","content":"B\n\nA\n\nC"},{"role":"user","content":"hi"}])"},
        ComposeCase{
            "BeforeTheSystemText",
            {"A", "B"},
            R"([{"role":"system","content":"own"},{"role":"user","content":"hi"}])",
            R"([{"role":"system","content":"A\n\nB\n\nown"},{"role":"user","content":"hi"}])"},
        ComposeCase{"BeforeItsParts",
                    {"A"},
                    R"([{"role":"system","content":[{"type":"text","text":"own"}]}])",
                    R"([{"role":"system","content":[{"type":"text","text":"A\n\n"},)"
                    R"({"type":"text","text":"own"}]}])"},
        ComposeCase{"InPlaceOfAnEmptySystemText",
                    {"A"},
                    R"([{"role":"system","content":""},{"role":"user","content":"hi"}])",
                    R"([{"role":"system","content":"A"},{"role":"user","content":"hi"}])"},
        ComposeCase{"InPlaceOfNone",
                    {"A"},
                    R"([{"role":"system","content":null}])",
                    R"([{"role":"system","content":"A"}])"},
        ComposeCase{"OnlyIntoTheFirstOfSeveral",
                    {"A"},
                    R"([{"role":"system","content":"x"},{"role":"system","content":"y"}])",
                    R"([{"role":"system","content":"A\n\nx"},{"role":"system","content":"y"}])"},
        ComposeCase{"BeforeOneThatComesLater",
                    {"A"},
                    R"([{"role":"user","content":"hi"},{"role":"system","content":"y"}])",
                    R"([{"role":"system","content":"A"},{"role":"user","content":"hi"},)"
                    R"({"role":"system","content":"y"}])"},
        ComposeCase{"KeepsOtherMembers",
                    {"A \"quoted\""},
                    R"([{"role":"system","name":"n","content":"own"}])",
                    R"([{"role":"system","name":"n","content":"A \"quoted\"\n\nown"}])"}),
    [](const auto& test) { return test.param.name; });

TEST(WithModulesOf, NoMessagesIsAnError) {
  for (const char* messages : {"", "[]", "{}", "[1]", "nonsense"}) {
    const std::vector<std::string> texts{"A"};
    const auto composed = with_modules(messages, texts);
    ASSERT_FALSE(composed) << messages;
    EXPECT_EQ(composed.error().code(), ErrorCode::kInvalid);
  }
}

TEST(ModuleProbesOf, OneTextDifferInTheUsersFirstCharacterOnly) {
  const ModuleProbes probes = module_probes("A");
  EXPECT_TRUE(probes.one.count_only);
  EXPECT_TRUE(probes.one.return_tokens);
  EXPECT_NE(probes.one.messages, probes.other.messages);
  EXPECT_EQ(probes.one.messages.size(), probes.other.messages.size());
}

TEST(CommonBeginning, EndsWhereTokensDiffer) {
  const auto common = [](std::vector<int> a, std::vector<int> b) { return common_beginning(a, b); };
  EXPECT_THAT(common({1, 2, 3}, {1, 2, 4}), ElementsAre(1, 2));
  EXPECT_THAT(common({1, 2}, {1, 2, 4}), ElementsAre(1, 2));
  EXPECT_THAT(common({1}, {2}), IsEmpty());
  EXPECT_THAT(common({}, {2}), IsEmpty());
}

}  // namespace
}  // namespace hearth::front

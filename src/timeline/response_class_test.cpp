// SPDX-License-Identifier: Apache-2.0
#include "timeline/response_class.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

using namespace literals;

struct ClassCase {
  const char* name;
  Facts facts;
  ResponseClass expected;
};

class Classes : public testing::TestWithParam<ClassCase> {};

TEST_P(Classes, AreOfTheColdestLayer) {
  EXPECT_EQ(classify(GetParam().facts), GetParam().expected);
}

using enum ResponseClass;
INSTANTIATE_TEST_SUITE_P(
    Response, Classes,
    testing::Values(
        ClassCase{"Nothing", {}, kWarm},
        ClassCase{"Download",
                  {.downloaded = 1_MiB, .bytes_read = 9_MiB, .weights_loaded = true},
                  kArtifactCold},
        ClassCase{"ReadsMuch",
                  {.bytes_read = 2_MiB, .load_set = 100_MiB, .weights_loaded = true},
                  kStorageCold},
        ClassCase{"ReadsAMebibyte", {.bytes_read = 1_MiB, .load_set = 10_MiB}, kWarm},
        ClassCase{"ReadsAMebibyteAndAByte",
                  {.bytes_read = 1_MiB + Bytes{1}, .load_set = 10_MiB},
                  kStorageCold},
        ClassCase{"ReadsAHundredth",
                  {.bytes_read = 10_MiB, .load_set = 1000_MiB, .weights_loaded = true},
                  kLoadCold},
        ClassCase{
            "ReadsMoreThanAHundredth", {.bytes_read = 11_MiB, .load_set = 1000_MiB}, kStorageCold},
        ClassCase{"ReadsOfAnUnknownLoadSet", {.bytes_read = 2_MiB}, kStorageCold},
        ClassCase{"LoadsFromMemory",
                  {.load_set = 1000_MiB, .weights_loaded = true, .compiled = true},
                  kLoadCold},
        ClassCase{"Spawns", {.spawned = true}, kLoadCold},
        ClassCase{"Compiles", {.compiled = true, .tokens_seen_before = 500}, kCompileCold},
        ClassCase{"LostABlock",
                  {.prompt_tokens = 200, .cached_tokens = 64, .tokens_seen_before = 128},
                  kPrefixCold},
        ClassCase{"LostLessThanABlock",
                  {.prompt_tokens = 200, .cached_tokens = 64, .tokens_seen_before = 127},
                  kWarm},
        ClassCase{"RestoresALostBlock",
                  {.prompt_tokens = 200, .cached_tokens = 128, .tokens_seen_before = 128},
                  kWarm},
        ClassCase{"ReadsStoredPromptState",
                  {.bytes_read = 40_MiB,
                   .load_set = 100_MiB,
                   .read_for_prefix = 40_MiB,
                   .weights_loaded = true},
                  kLoadCold},
        ClassCase{"LongNewPrompt", {.prompt_tokens = 4000}, kWarm},
        ClassCase{"OnlyQueued", {.queued = std::chrono::seconds{5}}, kWarm}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(ResponseClassNames, GoBothWays) {
  for (const ResponseClass c :
       {kArtifactCold, kStorageCold, kLoadCold, kCompileCold, kPrefixCold, kWarm}) {
    EXPECT_EQ(response_class_named(name_of(c)), c);
  }
  EXPECT_EQ(response_class_named("cold"), std::nullopt);
  EXPECT_EQ(name_of(kStorageCold), "storage-cold");
  EXPECT_EQ(cold_layer_of(kStorageCold), "pages");
  EXPECT_EQ(cold_layer_of(kWarm), "");
}

}  // namespace
}  // namespace hearth

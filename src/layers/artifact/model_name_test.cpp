// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/model_name.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

struct GoodName {
  const char* typed;
  const char* canonical;
  const char* key;
};
class AcceptedName : public ::testing::TestWithParam<GoodName> {};

TEST_P(AcceptedName, HasOneCanonicalForm) {
  const Result<ModelName> name = ModelName::parse(GetParam().typed);
  ASSERT_TRUE(name) << name.error().message();
  EXPECT_EQ(name->canonical(), GetParam().canonical);
  EXPECT_EQ(name->key(), GetParam().key);
  EXPECT_EQ(ModelName::parse(name->canonical())->canonical(), name->canonical());
}

INSTANTIATE_TEST_SUITE_P(
    Names, AcceptedName,
    ::testing::Values(GoodName{"llama3", "llama3:latest", "llama3:latest"},
                      GoodName{"Qwen2.5:7B-Instruct", "Qwen2.5:7B-Instruct", "qwen2.5:7b-instruct"},
                      GoodName{"google/gemma-3", "google/gemma-3:latest", "google/gemma-3:latest"},
                      GoodName{"hf.co/u/M-GGUF:Q4_K_M", "hf.co/u/M-GGUF:Q4_K_M",
                               "hf.co/u/m-gguf:q4_k_m"},
                      GoodName{"nas:5000/me/x:1", "nas:5000/me/x:1", "nas:5000/me/x:1"}));

struct BadName {
  const char* why;
  std::string typed;
};
void PrintTo(const BadName& name, std::ostream* out) { *out << name.why; }
class RefusedName : public ::testing::TestWithParam<BadName> {};

TEST_P(RefusedName, IsInvalidAndNotRepeated) {
  const Result<ModelName> name = ModelName::parse(GetParam().typed);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(name.error().field(), "model");
  EXPECT_EQ(name.error().message().find("etc"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Names, RefusedName,
    ::testing::Values(BadName{"Empty", ""}, BadName{"Climbs", "../../etc/passwd"},
                      BadName{"ClimbsInside", "a/../../b"}, BadName{"Absolute", "/etc/passwd"},
                      BadName{"Escaped", "%2e%2e%2fetc"}, BadName{"Nul", std::string{"a\0b", 3}},
                      BadName{"Newline", "a\nb"}, BadName{"TenKilobytes", std::string(10240, 'a')},
                      BadName{"EmptyTag", "a:"}, BadName{"TwoTags", "a:b:c"},
                      BadName{"EmptyPart", "a//b"}, BadName{"TrailingSlash", "a/"},
                      BadName{"FourParts", "a/b/c/d"}, BadName{"Dots", "a/..b"},
                      BadName{"DotsInside", "a..b"}, BadName{"Backslash", "a\\b"},
                      BadName{"Space", "a b"}, BadName{"Dash", "-rf"},
                      BadName{"Digest", "sha256:../../etc"}, BadName{"Port", "h:x/n/m"}),
    [](const auto& test) { return test.param.why; });

TEST(ModelName, IsMadeFromAFileName) {
  const std::pair<const char*, const char*> cases[]{
      {"/m/gemma-3-270m-Q4_K_M.gguf", "gemma-3-270m-Q4_K_M:latest"},
      {"/m/big-00002-of-00003.gguf", "big:latest"},
      {"my model (1).GGUF", "my-model--1-:latest"},
      {"...x.gguf", "x:latest"}};
  for (const auto& [path, expected] : cases) {
    const Result<ModelName> name = ModelName::from_path(path);
    ASSERT_TRUE(name) << path;
    EXPECT_EQ(name->canonical(), expected);
  }
  EXPECT_FALSE(ModelName::from_path("/m/.gguf"));
}

}  // namespace
}  // namespace hearth

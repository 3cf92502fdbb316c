// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/huggingface.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layers/artifact/source/plan_checks.h"
#include "layers/artifact/source/plan_text.h"
#include "layers/testing/mutated_text.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kCommit = "5fab1e0c0ffee0ddba11c0de5eed1e55ca5cade5";

ModelSource source_of(const std::string& text) {
  Result<ModelSource> source = parse_source(text, SourceServers{});
  EXPECT_TRUE(source) << text;
  return source ? *source : ModelSource{};
}

std::string sibling(const std::string& path, std::uint64_t size) {
  const std::string sha256 = fmt::format("{:064x}", size);
  return fmt::format(R"({{"rfilename":"{}","size":{},"blobId":"{:040x}",)"
                     R"("lfs":{{"sha256":"{}","size":{},"pointerSize":135}}}})",
                     path, size, size, sha256, size);
}

std::string small(const std::string& path) {
  return fmt::format(R"({{"rfilename":"{}","size":1519,"blobId":"a6344aac8c09253b3b630fb7"}})",
                     path);
}

// The shape of an answer of GET /api/models/{repo}/revision/{revision}?blobs=true: the Hub's API
// documentation (huggingface.co/docs/hub/api, "Get model information") and what the client library
// huggingface_hub reads of it with files_metadata (ModelInfo, RepoSibling, BlobLfsInfo).
std::string index_with(const std::vector<std::string>& siblings) {
  return fmt::format(
      R"({{"_id":"66e1f8","id":"org/repo-GGUF","modelId":"org/repo-GGUF","author":"org",)"
      R"("sha":"{}","lastModified":"2025-03-01T10:00:00.000Z","private":false,"gated":false,)"
      R"("disabled":false,"downloads":12,"tags":["gguf","text-generation"],)"
      R"("pipeline_tag":"text-generation","cardData":{{"license":"apache-2.0"}},)"
      R"("gguf":{{"total":1235814432,"architecture":"llama","context_length":131072}},)"
      R"("siblings":[{}],"usedStorage":123}})",
      kCommit, fmt::join(siblings, ","));
}

const std::vector<std::string> kUsual{
    small(".gitattributes"),
    small("README.md"),
    sibling("repo-Q8_0.gguf", 1'321'083'008),
    sibling("repo-Q4_K_M.gguf", 807'694'464),
    sibling("repo-Q2_K.gguf", 580'000'000),
    sibling("repo-f16/repo-f16-00002-of-00002.gguf", 900),
    sibling("repo-f16/repo-f16-00001-of-00002.gguf", 2'000'000'000),
    sibling("mmproj-repo-f16.gguf", 600'000'000),
    sibling("repo.imatrix", 5'000'000)};

Result<FetchPlan> plan_for(const std::string& text, const std::string& body) {
  return plan_of(source_of(text), IndexAnswer{200, {}, body});
}

TEST(HuggingFace, TheUsualChoiceIsMade) {
  const Result<FetchPlan> plan = plan_for("hf.co/org/repo-GGUF", index_with(kUsual));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->source, "hf.co/org/repo-GGUF:Q4_K_M");
  EXPECT_EQ(plan->name, "hf.co/org/repo-GGUF:latest");
  EXPECT_EQ(plan->revision, kCommit);
  EXPECT_EQ(plan->choice,
            "Q4_K_M (770.3 MiB) of Q2_K (553.1 MiB), Q4_K_M (770.3 MiB), Q8_0 (1.2 GiB), F16 "
            "(1.9 GiB)");
  ASSERT_EQ(plan->files.size(), 1u);
  EXPECT_EQ(plan->files[0].url,
            "https://huggingface.co/org/repo-GGUF/resolve/5fab1e0c0ffee0ddba11c0de5eed1e55ca5cade5/"
            "repo-Q4_K_M.gguf");
  EXPECT_EQ(plan->files[0].size, Bytes{807'694'464});
  EXPECT_EQ(plan->files[0].sha256, fmt::format("{:064x}", 807'694'464));
  EXPECT_THAT(plan->notes, ElementsAre(HasSubstr("projector")));
}

struct WantedCase {
  std::string wanted;
  std::string first_file;  // or what the error says
};

class HuggingFaceWanted : public ::testing::TestWithParam<WantedCase> {};

TEST_P(HuggingFaceWanted, IsFound) {
  std::vector<std::string> siblings = kUsual;
  siblings.push_back(sibling("UD/repo-UD-IQ1_S.gguf", 300));
  const auto plan = plan_for("hf.co/org/repo-GGUF:" + GetParam().wanted, index_with(siblings));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->files[0].name, GetParam().first_file);
}

INSTANTIATE_TEST_SUITE_P(Table, HuggingFaceWanted,
                         ::testing::Values(WantedCase{"q8_0", "repo-Q8_0.gguf"},
                                           WantedCase{"repo-q2_k.GGUF", "repo-Q2_K.gguf"},
                                           WantedCase{"repo-Q2_K", "repo-Q2_K.gguf"},
                                           WantedCase{"F16", "repo-f16-00001-of-00002.gguf"},
                                           WantedCase{"FP16", "repo-f16-00001-of-00002.gguf"},
                                           WantedCase{"repo-f16/repo-f16-00002-of-00002.gguf",
                                                      "repo-f16-00001-of-00002.gguf"},
                                           WantedCase{"IQ1_S", "repo-UD-IQ1_S.gguf"},
                                           WantedCase{"ud-iq1_s", "repo-UD-IQ1_S.gguf"}));

TEST(HuggingFace, ASetComesWholeAndInOrder) {
  const auto plan = plan_for("hf.co/org/repo-GGUF:F16", index_with(kUsual));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->files.size(), 2u);
  EXPECT_EQ(plan->files[1].name, "repo-f16-00002-of-00002.gguf");
  EXPECT_EQ(plan->size(), Bytes{2'000'000'900});
}

TEST(HuggingFace, WhatIsNotThereIsListed) {
  const auto plan = plan_for("hf.co/org/repo-GGUF:Q3_K_S", index_with(kUsual));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(plan.error().message(), HasSubstr("no \"Q3_K_S\"; it has Q2_K (553.1 MiB), Q4_K_M"));
}

TEST(HuggingFace, NothingIsGuessed) {
  const auto twice =
      plan_for("hf.co/org/repo-GGUF",
               index_with({sibling("a-Q4_K_M.gguf", 1), sibling("b-Q4_K_M.gguf", 2)}));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(twice.error().message(), HasSubstr("a-Q4_K_M.gguf, b-Q4_K_M.gguf"));

  const auto torn =
      plan_for("hf.co/org/repo-GGUF:Q8_0", index_with({sibling("a-Q8_0-00001-of-00003.gguf", 1),
                                                       sibling("a-Q8_0-00003-of-00003.gguf", 1)}));
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(torn.error().message(), HasSubstr("only 2 of the 3 files"));

  const auto pieces =
      plan_for("hf.co/org/repo-GGUF",
               index_with({sibling("a-Q8_0.gguf", 9), sibling("s/a-Q8_0-00001-of-00002.gguf", 4),
                           sibling("s/a-Q8_0-00002-of-00002.gguf", 5)}));
  ASSERT_TRUE(pieces) << pieces.error().message();
  EXPECT_EQ(pieces->files[0].name, "a-Q8_0.gguf");
}

struct FormatCase {
  std::vector<std::string> files;
  std::string says;
};

class HuggingFaceFormat : public ::testing::TestWithParam<FormatCase> {};

TEST_P(HuggingFaceFormat, IsRefusedWithARemedy) {
  std::vector<std::string> siblings;
  for (const std::string& file : GetParam().files) siblings.push_back(sibling(file, 10));
  const auto plan = plan_for("hf.co/org/repo", index_with(siblings));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(plan.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, HuggingFaceFormat,
    ::testing::Values(FormatCase{{"model-00001-of-00002.safetensors"}, "convert_hf_to_gguf.py"},
                      FormatCase{{"x.ggmlv3.q4_0.bin"}, "old GGML"},
                      FormatCase{{"pytorch_model.bin"}, "PyTorch"},
                      FormatCase{{"x.Q8_0.gguf.part1of2", "x.Q8_0.gguf.part2of2"}, "join them"},
                      FormatCase{{"x-lora-f16.gguf"}, "ADAPTER"},
                      FormatCase{{"mmproj-x.gguf"}, "projector"}, FormatCase{{"a.txt"}, "GGUF"},
                      FormatCase{{}, "GGUF"}));

struct StatusCase {
  int status;
  std::string error_code;
  bool with_token;
  ErrorCode code;
  std::string says;
};

class HuggingFaceStatus : public ::testing::TestWithParam<StatusCase> {};

TEST_P(HuggingFaceStatus, SaysWhatToDo) {
  const StatusCase& c = GetParam();
  const IndexAnswer answer{c.status, {{"x-error-code", c.error_code}}, "<html>", c.with_token};
  const auto plan = plan_of(source_of("hf.co/org/repo@dev"), answer);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), c.code);
  EXPECT_THAT(plan.error().message(), HasSubstr(c.says));
  EXPECT_THAT(plan.error().message(), HasSubstr("huggingface.co"));
}

// Codes as huggingface_hub tells them apart (hf_raise_for_status in utils/_http.py).
INSTANTIATE_TEST_SUITE_P(
    Table, HuggingFaceStatus,
    ::testing::Values(
        StatusCase{401, "", false, ErrorCode::kInvalid, "HF_TOKEN"},
        StatusCase{401, "RepoNotFound", false, ErrorCode::kInvalid, "does not exist or is private"},
        StatusCase{401, "GatedRepo", false, ErrorCode::kInvalid, "accept its terms"},
        StatusCase{403, "GatedRepo", true, ErrorCode::kInvalid, "account of HF_TOKEN"},
        StatusCase{403, "", true, ErrorCode::kInvalid, "not valid any more"},
        StatusCase{404, "RepoNotFound", false, ErrorCode::kNotFound, "no repository org/repo"},
        StatusCase{404, "RevisionNotFound", false, ErrorCode::kNotFound, "no revision \"dev\""},
        StatusCase{429, "", false, ErrorCode::kUnavailable, "later"},
        StatusCase{503, "", false, ErrorCode::kUnavailable, "later"},
        StatusCase{302, "", false, ErrorCode::kUnavailable, "302"}));

TEST(HuggingFace, NonsenseIsRefused) {
  const std::string good = sibling("a-Q8_0.gguf", 5);
  for (const std::string& body :
       {std::string{}, std::string{"[]"}, std::string{"{}"}, std::string{R"({"sha":"main"})"},
        index_with({R"({"rfilename":"../a.gguf","size":1})"}),
        index_with({R"({"rfilename":"/a.gguf","size":1})"}),
        index_with({R"({"rfilename":"a\u0000.gguf","size":1})"}),
        index_with({R"({"rfilename":"a\\b.gguf","size":1})"}), index_with({good, good}),
        index_with({R"({"rfilename":"a.gguf","size":-1})"}),
        index_with({R"({"rfilename":"a.gguf"})"}),
        index_with({R"({"rfilename":"a.gguf","size":9223372036854775807})"}),
        index_with({R"({"rfilename":"a.gguf","lfs":{"sha256":"abc","size":1}})"}),
        index_with({"5"})}) {
    const auto plan = plan_for("hf.co/org/repo", body);
    ASSERT_FALSE(plan) << body;
    EXPECT_EQ(plan.error().code(), ErrorCode::kCorrupt) << body;
  }
}

TEST(HuggingFace, OddNamesAreEscaped) {
  const auto plan = plan_for("hf.co/org/repo", index_with({sibling("d é/a+b?#%.gguf", 5)}));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_THAT(plan->files[0].url, ::testing::EndsWith("/d%20%C3%A9/a%2Bb%3F%23%25.gguf"));
  EXPECT_EQ(plan->source, "hf.co/org/repo");
}

// Files of these names are documented at huggingface.co/docs/hub/ollama.
TEST(HuggingFace, TextsForOtherProgramsComeAlong) {
  auto plan = plan_for("hf.co/org/repo",
                       index_with({sibling("a.gguf", 5), small("params"), small("system")}));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->texts.size(), 2u);
  ASSERT_TRUE(apply_text(*plan, plan->texts[0], R"({"temperature": 0.5})"));
  ASSERT_TRUE(apply_text(*plan, plan->texts[1], "Be brief."));
  EXPECT_EQ(plan->settings.system, "Be brief.");
}

TEST(HuggingFace, MutatedAnswersAreHarmless) {
  Random random{5};
  const std::string body = index_with(kUsual);
  const ModelSource source = source_of("hf.co/org/repo-GGUF");
  int plans = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto plan = plan_of(source, IndexAnswer{200, {}, testing::mutated(body, random)});
    if (!plan) continue;
    ++plans;
    testing::expect_safe(*plan, "https://huggingface.co/org/repo-GGUF/resolve/");
  }
  EXPECT_GT(plans, 20);
}

}  // namespace
}  // namespace hearth

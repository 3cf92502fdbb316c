// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/ollama_registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "layers/artifact/source/plan_checks.h"
#include "layers/artifact/source/plan_text.h"
#include "layers/testing/mutated_text.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelSource source_of(const std::string& text) {
  Result<ModelSource> source = parse_source(text, SourceServers{});
  EXPECT_TRUE(source) << text;
  return source ? *source : ModelSource{};
}

std::string hash(std::string_view text) { return hex_of(Sha256{}.add(text).finish()); }

std::string layer(const std::string& kind, const std::string& content) {
  return fmt::format(
      R"({{"mediaType":"application/vnd.ollama.image.{}","digest":"sha256:{}","size":{}}})", kind,
      hash(content), content.size());
}

// The shape of a manifest: image manifest version 2, schema 2 of the distribution project
// (distribution.github.io/distribution/spec/manifest-v2-2), with layers of the media types that
// Ollama's server reads (its repository: server/images.go, manifest/layer.go).
std::string manifest_with(const std::vector<std::string>& layers) {
  return fmt::format(R"({{"schemaVersion":2,)"
                     R"("mediaType":"application/vnd.docker.distribution.manifest.v2+json",)"
                     R"("config":{{"mediaType":"application/vnd.docker.container.image.v1+json",)"
                     R"("digest":"sha256:{}","size":485}},"layers":[{}]}})",
                     hash("config"), fmt::join(layers, ","));
}

const std::string kTemplate = "{{ .System }} {{ .Prompt }}";
const std::string kParams = R"({"stop":["<|eot|>"],"temperature":0.6})";
const std::string kMessages = R"([{"role":"user","content":"hi"}])";

const std::vector<std::string> kUsual{
    layer("model", "weights"),    layer("template", kTemplate), layer("license", "One"),
    layer("license", "Two"),      layer("params", kParams),     layer("system", "Be kind."),
    layer("messages", kMessages), layer("adapter", "lora"),     layer("projector", "images")};

Result<FetchPlan> plan_for(const std::string& text, const std::string& body) {
  return plan_of(source_of(text), IndexAnswer{200, {}, body});
}

TEST(OllamaRegistry, AManifestBecomesAPlan) {
  const std::string manifest = manifest_with(kUsual);
  Result<FetchPlan> plan = plan_for("llama3.2:1b", manifest);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->source, "registry.ollama.ai/library/llama3.2:1b");
  EXPECT_EQ(plan->name, "llama3.2:1b");
  EXPECT_EQ(plan->revision, "sha256:" + hash(manifest));
  ASSERT_EQ(plan->files.size(), 1u);
  EXPECT_EQ(plan->files[0].name, "llama3.2-1b.gguf");
  EXPECT_EQ(plan->files[0].url,
            "https://registry.ollama.ai/v2/library/llama3.2/blobs/sha256:" + hash("weights"));
  EXPECT_EQ(plan->files[0].sha256, hash("weights"));
  ASSERT_EQ(plan->adapters.size(), 1u);
  EXPECT_EQ(plan->adapters[0].name, "llama3.2-1b-adapter.gguf");
  EXPECT_EQ(plan->size(), Bytes{11});
  EXPECT_THAT(plan->notes, ElementsAre(HasSubstr("projector")));

  const std::vector<std::string> texts{kTemplate, "One", "Two", kParams, "Be kind.", kMessages};
  ASSERT_EQ(plan->texts.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Result<> applied = apply_text(*plan, plan->texts[i], texts[i]);
    EXPECT_TRUE(applied) << applied.error().message();
  }
  EXPECT_EQ(plan->settings.chat_template, kTemplate);
  EXPECT_FALSE(is_jinja(plan->settings.chat_template));
  EXPECT_EQ(plan->settings.license, "One\n\nTwo");
  EXPECT_EQ(plan->settings.system, "Be kind.");
  EXPECT_THAT(plan->settings.parameters, HasSubstr(R"("stop":["<|eot|>"])"));
  EXPECT_EQ(plan->settings.messages, kMessages);
}

TEST(OllamaRegistry, TheManifestIsAskedFor) {
  const IndexRequest request = registry::index_request(source_of("h.example:5000/team/x:1"));
  EXPECT_EQ(request.url, "https://h.example:5000/v2/team/x/manifests/1");
  EXPECT_THAT(request.headers[0].value, HasSubstr("distribution.manifest.v2+json"));
}

struct RefusedCase {
  std::string body;
  ErrorCode code;
  std::string says;
};

class OllamaManifest : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(OllamaManifest, IsRefused) {
  const auto plan = plan_for("x", GetParam().body);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), GetParam().code);
  EXPECT_THAT(plan.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, OllamaManifest,
    ::testing::Values(
        RefusedCase{"", ErrorCode::kCorrupt, "JSON"},
        RefusedCase{"[]", ErrorCode::kCorrupt, "JSON"},
        RefusedCase{"{}", ErrorCode::kCorrupt, "layers"},
        RefusedCase{R"({"layers":[7]})", ErrorCode::kCorrupt, "layer"},
        RefusedCase{R"({"manifests":[]})", ErrorCode::kUnsupported, "container image"},
        RefusedCase{manifest_with({}), ErrorCode::kUnsupported, "no weights"},
        RefusedCase{manifest_with({layer("tensor", "t")}), ErrorCode::kUnsupported, "safetensors"},
        RefusedCase{R"({"layers":[{"digest":"sha256:abc","size":1}]})", ErrorCode::kCorrupt, "SHA"},
        RefusedCase{R"({"layers":[{"digest":"md5:abc","size":1}]})", ErrorCode::kCorrupt, "SHA"},
        RefusedCase{fmt::format(R"({{"layers":[{{"digest":"sha256:{}"}}]}})", hash("")),
                    ErrorCode::kCorrupt, "size"},
        RefusedCase{fmt::format(R"({{"layers":[{{"digest":"sha256:../../{}","size":1}}]}})",
                                hash("").substr(6)),
                    ErrorCode::kCorrupt, "SHA"},
        RefusedCase{
            fmt::format(R"({{"layers":[{{"mediaType":"application/vnd.ollama.image.system",)"
                        R"("digest":"sha256:{}","size":99999999}}]}})",
                        hash("")),
            ErrorCode::kCorrupt, "too long"}));

TEST(OllamaRegistry, StatusesSayWhatToDo) {
  const ModelSource source = source_of("x");
  const auto says = [&](int status) {
    return plan_of(source, IndexAnswer{status, {}, "{}"}).error();
  };
  EXPECT_EQ(says(404).code(), ErrorCode::kNotFound);
  EXPECT_THAT(says(404).message(), HasSubstr("no library/x:latest"));
  EXPECT_EQ(says(401).code(), ErrorCode::kInvalid);
  EXPECT_EQ(says(412).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(says(500).code(), ErrorCode::kUnavailable);
}

// As the distribution project describes token authentication
// (distribution.github.io/distribution/spec/auth/token).
TEST(OllamaRegistry, AnonymousTokens) {
  const ModelSource source = source_of("h.example/team/x");
  const IndexAnswer refused{
      401,
      {{"www-authenticate", R"(Basic realm="b", Bearer realm="https://auth.example/token",)"
                            R"(service="h.example",scope="repository:team/x:pull other:y:pull")"}},
      ""};
  const auto request = registry::token_request(source, refused);
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->url,
            "https://auth.example/token?service=h.example&scope=repository%3Ateam%2Fx%3Apull"
            "&scope=other%3Ay%3Apull");
  const auto header = registry::token_header(IndexAnswer{200, {}, R"({"token":"abc.d-e","x":1})"});
  ASSERT_TRUE(header);
  EXPECT_EQ(*header, (HeaderField{"Authorization", "Bearer abc.d-e"}));
  EXPECT_TRUE(registry::token_header(IndexAnswer{200, {}, R"({"access_token":"abc"})"}));
}

TEST(OllamaRegistry, StrangeTokensAreRefused) {
  for (const std::string& body :
       {std::string{R"({"token":"a\r\nHost: b"})"}, std::string{R"({"token":""})"},
        std::string{R"({"token":5})"}, std::string{"null"}, std::string{"<html>"}}) {
    const auto header = registry::token_header(IndexAnswer{200, {}, body});
    ASSERT_FALSE(header) << body;
    EXPECT_EQ(header.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_EQ(registry::token_header(IndexAnswer{403, {}, ""}).error().code(), ErrorCode::kInvalid);
}

struct ChallengeCase {
  std::string header;
  ErrorCode code;
};

class StrangeChallenge : public ::testing::TestWithParam<ChallengeCase> {};

TEST_P(StrangeChallenge, IsRefused) {
  const IndexAnswer refused{401, {{"www-authenticate", GetParam().header}}, ""};
  const auto request = registry::token_request(source_of("x"), refused);
  ASSERT_FALSE(request) << request->url;
  EXPECT_EQ(request.error().code(), GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StrangeChallenge,
    ::testing::Values(ChallengeCase{"Basic realm=\"x\"", ErrorCode::kInvalid},
                      ChallengeCase{"Bearer", ErrorCode::kInvalid},
                      ChallengeCase{"Bearer realm=\"https://a", ErrorCode::kInvalid},
                      ChallengeCase{"Bearer realm=\"http://a.example/t\"", ErrorCode::kCorrupt},
                      ChallengeCase{"Bearer realm=\"file:///etc\"", ErrorCode::kCorrupt},
                      ChallengeCase{"Bearer realm=\"https://u:p@a.example/\"", ErrorCode::kCorrupt},
                      ChallengeCase{"Bearer realm=\"https://a.example/../\"",
                                    ErrorCode::kCorrupt}));

TEST(OllamaRegistry, MutatedAnswersAreHarmless) {
  Random random{6};
  const std::string body = manifest_with(kUsual);
  const ModelSource source = source_of("llama3.2:1b");
  int plans = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto plan = plan_of(source, IndexAnswer{200, {}, testing::mutated(body, random)});
    if (!plan) continue;
    ++plans;
    testing::expect_safe(*plan, "https://registry.ollama.ai/v2/library/llama3.2/blobs/sha256:");
  }
  EXPECT_GT(plans, 20);
}

TEST(OllamaRegistry, MutatedChallengesAreHarmless) {
  Random random{8};
  const std::string good =
      R"(Bearer realm="https://auth.example/token",service="h",scope="repository:a/b:pull")";
  for (int i = 0; i < 2000; ++i) {
    const IndexAnswer refused{401, {{"www-authenticate", testing::mutated(good, random)}}, ""};
    const auto request = registry::token_request(source_of("x"), refused);
    if (!request) continue;
    EXPECT_TRUE(HttpUrl::parse(request->url)) << request->url;
    EXPECT_TRUE(request->url.starts_with("https://")) << request->url;
  }
}

TEST(PlanText, WhatIsNotWhatWasPromisedIsRefused) {
  FetchPlan plan;
  const PlannedFile file{"system", "", hash("right"), Bytes{5}};
  EXPECT_EQ(apply_text(plan, file, "wrong").error().code(), ErrorCode::kCorrupt);
  EXPECT_TRUE(apply_text(plan, file, "right"));
  for (const auto& [kind, text] :
       std::vector<std::pair<std::string, std::string>>{{"params", "[]"},
                                                        {"params", R"({"a":{"b":1}})"},
                                                        {"params", R"({"stop":[1]})"},
                                                        {"messages", "{}"},
                                                        {"messages", R"([{"content":"x"}])"},
                                                        {"system", "\xFF"},
                                                        {"template", std::string{"a\0b", 3}}}) {
    const Result<> applied = apply_text(plan, PlannedFile{kind, "", "", Bytes{}}, text);
    ASSERT_FALSE(applied) << kind << " " << text;
    EXPECT_EQ(applied.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace hearth

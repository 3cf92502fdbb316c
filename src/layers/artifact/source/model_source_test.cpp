// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "layers/artifact/source/source_index.h"
#include "layers/artifact/source/url_source.h"

namespace hearth {
namespace {

using testing::HasSubstr;
using testing::Not;

struct SourceCase {
  std::string typed;
  SourceKind kind;
  std::string text;
  std::string name;
  std::string first_url;  // of the index, or the file itself
};

class SourceTyped : public testing::TestWithParam<SourceCase> {};

TEST_P(SourceTyped, IsUnderstood) {
  const SourceCase& expected = GetParam();
  const Result<ModelSource> source = parse_source(expected.typed, SourceServers{});
  ASSERT_TRUE(source) << expected.typed << ": " << source.error().message();
  EXPECT_EQ(source->kind, expected.kind);
  EXPECT_EQ(source->text, expected.text);
  EXPECT_EQ(source->name, expected.name);
  const auto request = index_request(*source);
  EXPECT_EQ(request ? request->url : source->url, expected.first_url);
  const Result<ModelSource> again = parse_source(source->text, SourceServers{});
  ASSERT_TRUE(again) << source->text << ": " << again.error().message();
  EXPECT_EQ(again->text, source->text);
  EXPECT_EQ(again->name, source->name);
  EXPECT_EQ(again->endpoint, source->endpoint);
}

constexpr auto kHub = SourceKind::kHuggingFace;
constexpr auto kRegistry = SourceKind::kRegistry;
constexpr auto kUrl = SourceKind::kUrl;
const std::string kApi = "https://huggingface.co/api/models/org/repo-GGUF/revision/";
const std::string kV2 = "https://registry.ollama.ai/v2/";

INSTANTIATE_TEST_SUITE_P(
    HuggingFace, SourceTyped,
    testing::Values(
        SourceCase{"hf.co/org/repo-GGUF", kHub, "hf.co/org/repo-GGUF", "hf.co/org/repo-GGUF:latest",
                   kApi + "main?blobs=true"},
        SourceCase{"HuggingFace.co/org/repo-GGUF:latest", kHub, "hf.co/org/repo-GGUF",
                   "hf.co/org/repo-GGUF:latest", kApi + "main?blobs=true"},
        SourceCase{"hf.co/org/repo-GGUF:q4_k_m", kHub, "hf.co/org/repo-GGUF:Q4_K_M",
                   "hf.co/org/repo-GGUF:Q4_K_M", kApi + "main?blobs=true"},
        SourceCase{"hf.co/org/repo-GGUF:Q8_0@v1.0", kHub, "hf.co/org/repo-GGUF@v1.0:Q8_0",
                   "hf.co/org/repo-GGUF:Q8_0", kApi + "v1.0?blobs=true"},
        SourceCase{"hf.co/org/repo-GGUF@refs/pr/1:Q8_0", kHub, "hf.co/org/repo-GGUF@refs/pr/1:Q8_0",
                   "hf.co/org/repo-GGUF:Q8_0", kApi + "refs%2Fpr%2F1?blobs=true"},
        SourceCase{"hf.co/org/repo-GGUF:a-Q8_0.gguf", kHub, "hf.co/org/repo-GGUF:a-Q8_0.gguf",
                   "hf.co/org/repo-GGUF:a-Q8_0", kApi + "main?blobs=true"},
        SourceCase{"hf.co/org/repo-GGUF/sub/a.gguf", kHub, "hf.co/org/repo-GGUF:sub/a.gguf",
                   "hf.co/org/repo-GGUF:a", kApi + "main?blobs=true"},
        SourceCase{"https://huggingface.co/org/repo-GGUF", kHub, "hf.co/org/repo-GGUF",
                   "hf.co/org/repo-GGUF:latest", kApi + "main?blobs=true"},
        SourceCase{"https://huggingface.co/org/repo-GGUF/", kHub, "hf.co/org/repo-GGUF",
                   "hf.co/org/repo-GGUF:latest", kApi + "main?blobs=true"},
        SourceCase{"https://huggingface.co/org/repo-GGUF/tree/dev", kHub, "hf.co/org/repo-GGUF@dev",
                   "hf.co/org/repo-GGUF:latest", kApi + "dev?blobs=true"},
        SourceCase{"https://huggingface.co/org/repo-GGUF/blob/main/a-Q2_K-00001-of-00002.gguf",
                   kHub, "hf.co/org/repo-GGUF:a-Q2_K-00001-of-00002.gguf",
                   "hf.co/org/repo-GGUF:a-Q2_K", kApi + "main?blobs=true"},
        SourceCase{"https://huggingface.co/org/repo-GGUF/resolve/refs/pr/2/d/a.gguf?download=true",
                   kHub, "hf.co/org/repo-GGUF@refs/pr/2:d/a.gguf", "hf.co/org/repo-GGUF:a",
                   kApi + "refs%2Fpr%2F2?blobs=true"}));

INSTANTIATE_TEST_SUITE_P(
    Registries, SourceTyped,
    testing::Values(SourceCase{"llama3.2", kRegistry, "registry.ollama.ai/library/llama3.2:latest",
                               "llama3.2:latest", kV2 + "library/llama3.2/manifests/latest"},
                    SourceCase{"llama3.2:1b", kRegistry, "registry.ollama.ai/library/llama3.2:1b",
                               "llama3.2:1b", kV2 + "library/llama3.2/manifests/1b"},
                    SourceCase{"Someone/model:q8", kRegistry, "registry.ollama.ai/Someone/model:q8",
                               "Someone/model:q8", kV2 + "Someone/model/manifests/q8"},
                    SourceCase{"https://ollama.com/library/gemma3:4b", kRegistry,
                               "registry.ollama.ai/library/gemma3:4b", "gemma3:4b",
                               kV2 + "library/gemma3/manifests/4b"},
                    SourceCase{"ollama.com/someone/x", kRegistry,
                               "registry.ollama.ai/someone/x:latest", "someone/x:latest",
                               kV2 + "someone/x/manifests/latest"},
                    SourceCase{"Models.example:5000/team/x:1", kRegistry,
                               "models.example:5000/team/x:1", "models.example:5000/team/x:1",
                               "https://models.example:5000/v2/team/x/manifests/1"},
                    SourceCase{"localhost:5000/x", kRegistry, "localhost:5000/library/x:latest",
                               "localhost:5000/library/x:latest",
                               "https://localhost:5000/v2/library/x/manifests/latest"},
                    SourceCase{"http://nas.lan:5000/team/x:1", kRegistry,
                               "http://nas.lan:5000/team/x:1", "nas.lan:5000/team/x:1",
                               "http://nas.lan:5000/v2/team/x/manifests/1"}));

INSTANTIATE_TEST_SUITE_P(
    Addresses, SourceTyped,
    testing::Values(SourceCase{"https://Models.example:443/dir/My-Model-Q8_0.gguf", kUrl,
                               "https://models.example/dir/My-Model-Q8_0.gguf",
                               "My-Model-Q8_0:latest",
                               "https://models.example/dir/My-Model-Q8_0.gguf"},
                    SourceCase{"http://[::1]:8080/x.gguf", kUrl, "http://[::1]:8080/x.gguf",
                               "x:latest", "http://[::1]:8080/x.gguf"}));

TEST(ModelSource, ServersComeFromTheConfiguration) {
  const SourceServers servers{"http://127.0.0.1:9000/hub/", "http://127.0.0.1:9001"};
  const auto hub = parse_source("hf.co/org/repo", servers);
  ASSERT_TRUE(hub);
  EXPECT_EQ(index_request(*hub)->url,
            "http://127.0.0.1:9000/hub/api/models/org/repo/revision/main?blobs=true");
  EXPECT_TRUE(hub->configured);
  EXPECT_EQ(hub->host.port, 9000);

  const auto mirrored =
      parse_source("http://127.0.0.1:9000/hub/org/repo/resolve/main/a.gguf", servers);
  ASSERT_TRUE(mirrored);
  EXPECT_EQ(mirrored->text, "hf.co/org/repo:a.gguf");

  const auto named = parse_source("127.0.0.1:9001/library/x", servers);
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->configured);
  EXPECT_EQ(named->text, "127.0.0.1:9001/library/x:latest");
  EXPECT_EQ(index_request(*named)->url, "http://127.0.0.1:9001/v2/library/x/manifests/latest");

  const auto plain_file = parse_source("http://127.0.0.1:9001/files/a.gguf", servers);
  ASSERT_TRUE(plain_file);
  EXPECT_EQ(plain_file->kind, SourceKind::kUrl);
  EXPECT_FALSE(plain_file->configured);
}

TEST(ModelSource, PlainHttpIsForThoseWhoAsk) {
  const auto plain = parse_source("nas.lan:5000/team/x", SourceServers{}, SourceScheme::kHttp);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->text, "http://nas.lan:5000/team/x:latest");
  EXPECT_EQ(plain->host.scheme, "http");
  const auto known = parse_source("x", SourceServers{}, SourceScheme::kHttp);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->host.scheme, "https");
}

struct BadCase {
  std::string typed;
  std::string says;
};

class BadSource : public testing::TestWithParam<BadCase> {};

TEST_P(BadSource, IsRefusedWithoutRepeatingIt) {
  const Result<ModelSource> source = parse_source(GetParam().typed, SourceServers{});
  ASSERT_FALSE(source) << GetParam().typed;
  EXPECT_EQ(source.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(source.error().message(), HasSubstr(GetParam().says));
  EXPECT_THAT(source.error().message(), Not(HasSubstr("secret")));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSource,
    testing::Values(
        BadCase{"", "empty"}, BadCase{std::string(10'000, 'a'), "10000 characters"},
        BadCase{"/secret/model.gguf", "hearth import"}, BadCase{"./secret.gguf", "hearth import"},
        BadCase{"../../secret", "hearth import"}, BadCase{"~/secret.gguf", "hearth import"},
        BadCase{"file:///secret", "hearth import"}, BadCase{"a/../secret", "\"..\""},
        BadCase{"hf.co/org/../secret", "\"..\""}, BadCase{"hf.co/org/repo@../../secret", "\"..\""},
        BadCase{"https://h.example/a/../secret.gguf", "\"..\""},
        BadCase{std::string{"a\0secret", 8}, "control"}, BadCase{"a secret", "blank"},
        BadCase{"mod\xC3\xA9l", "ASCII"}, BadCase{"a\\secret", "backslash"},
        BadCase{"a\nsecret", "control"}, BadCase{"a%2e%2e/secret", "percent"},
        BadCase{"https://h.example/a%2fsecret.gguf", "escapes"},
        BadCase{"https://me:secret@h.example/a.gguf", "password"},
        BadCase{"https://secret@huggingface.co/org/repo", "password"},
        BadCase{"secret@h.example/ns/x", "password"},
        BadCase{"https://h.example/a.gguf?sig=secret", "query"},
        BadCase{"https://h.example/a.gguf#secret", "#"}, BadCase{"https:///a.gguf", "host"},
        BadCase{"https://h.example:0/a.gguf", "port"},
        BadCase{"https://h.example:99999/a.gguf", "port"},
        BadCase{"ftp://h.example/secret.gguf", "https://"},
        BadCase{"https://h.example/secret.bin", ".gguf"}, BadCase{"a/b/c/secret", "more parts"},
        BadCase{"x@sha256:secret", "tag"}, BadCase{"x:", "tag is empty"},
        BadCase{":x", "name is empty"}, BadCase{"ns/", "name is empty"},
        BadCase{"ns//x", "namespace is empty"}, BadCase{"-x", "begin"},
        BadCase{"hf.co/org", "repository"}, BadCase{"hf.co/", "repository"},
        BadCase{"hf.co/datasets/org/secret", "only models"},
        BadCase{"hf.co/org/repo/secret.txt", "no .gguf"}, BadCase{"hf.co/org/repo:", "is empty"},
        BadCase{"hf.co/org/repo@a@secret", "two revisions"},
        BadCase{"hf.co/org/repo:.secret.gguf", "dot"}, BadCase{"hf.co/org/repo:a//b.gguf", "empty"},
        BadCase{"hf.co/org/re$po", "character"}, BadCase{std::string(97, 'n'), "97 characters"}));

// Whatever is typed, what comes of it can be asked for safely.
TEST(ModelSource, RandomTextsGiveNothingDangerous) {
  Random random{7};
  const std::vector<std::string> pieces{
      "hf.co",        "/",  ":", "@",     "..", ".",       "org",
      "https:",       "//", "%", ".gguf", "?",  "resolve", "main",
      "\xE2\x80\xAE", "a",  " ", "\\",    "#",  "[",       "library"};
  int understood = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t n = random.next() % 9; n > 0; --n) {
      text += pieces[random.next() % pieces.size()];
    }
    const auto source = parse_source(text, SourceServers{});
    if (!source) continue;
    ++understood;
    const auto request = index_request(*source);
    const std::string url = request ? request->url : source->url;
    EXPECT_EQ(url.find(".."), std::string::npos) << url;
    EXPECT_EQ(url.find_first_of(" \\#@"), source->kind == kUrl ? url.find('@') : std::string::npos)
        << url;
    EXPECT_TRUE(parse_source(source->text, SourceServers{})) << source->text;
  }
  EXPECT_GT(understood, 100);
}

TEST(UrlPlan, AFileOfASetStandsForTheSet) {
  const auto source = parse_source("https://h.example/m-00002-of-00003.gguf", SourceServers{});
  ASSERT_TRUE(source);
  const auto plan = url_plan(*source);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->files.size(), 3u);
  EXPECT_EQ(plan->files[0].url, "https://h.example/m-00001-of-00003.gguf");
  EXPECT_EQ(plan->files[2].name, "m-00003-of-00003.gguf");
  EXPECT_EQ(plan->name, "m:latest");

  const auto endless = parse_source("https://h.example/m-00001-of-99999.gguf", SourceServers{});
  ASSERT_TRUE(endless);
  EXPECT_EQ(url_plan(*endless).error().code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace hearth

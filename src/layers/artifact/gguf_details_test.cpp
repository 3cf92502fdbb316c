// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_details.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>
#include <limits>

#include "base/json.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::TempDir;

class GgufDetailsTest : public ::testing::Test {
 protected:
  Result<GgufDetails> read(const std::string& bytes) {
    return read_gguf_details(Files::real(), {dir_.write("m.gguf", bytes)});
  }

  TempDir dir_;
};

TEST_F(GgufDetailsTest, TellsMetadataTemplateAndTensors) {
  GgufBuilder file = GgufBuilder::small_model();
  file.text("general.license.text", "Do\nwhat you want.");
  file.f32("odd", std::numeric_limits<float>::infinity());
  const auto details = read(file.bytes());
  ASSERT_TRUE(details) << details.error().message();
  const auto metadata = parse_json(details->metadata);
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->at("general.architecture"), "llama");
  EXPECT_EQ(metadata->at("llama.context_length"), 2048);
  EXPECT_EQ(metadata->at("tokenizer.ggml.tokens").as_array().size(), 3U);
  EXPECT_TRUE(metadata->at("odd").is_null());
  EXPECT_EQ(details->chat_template, "{{ messages }}");
  EXPECT_EQ(details->license_text, "Do\nwhat you want.");
  EXPECT_THAT(details->tensors, HasSubstr(R"({"name":"token_embd.weight","type":"F32",)"
                                          R"("shape":[64,32]})"));
}

TEST_F(GgufDetailsTest, LeavesLongListsAndTextsOut) {
  GgufBuilder file = GgufBuilder::small_model();
  file.texts("many", std::vector<std::string>(65, "x"));
  file.text("long", std::string((1 << 20) + 1, 'x'));
  const auto details = read(file.bytes());
  ASSERT_TRUE(details) << details.error().message();
  const auto metadata = parse_json(details->metadata);
  EXPECT_TRUE(metadata->at("many").is_null());
  EXPECT_TRUE(metadata->at("long").is_null());
}

TEST_F(GgufDetailsTest, NeverBelievesALength) {
  std::string cut = GgufBuilder::small_model().bytes();
  cut.resize(cut.size() / 2);
  EXPECT_EQ(read(cut).error().code(), ErrorCode::kCorrupt);
  GgufBuilder huge;
  huge.text("general.architecture", "llama").array("list", 10, std::uint64_t{1} << 60);
  EXPECT_EQ(read(huge.bytes()).error().code(), ErrorCode::kCorrupt);
  GgufBuilder nested;
  nested.text("general.architecture", "llama").array("list", 9, 1);
  EXPECT_EQ(read(nested.bytes()).error().code(), ErrorCode::kCorrupt);
}

TEST_F(GgufDetailsTest, TellsTheBytesOfLayersInFileOrder) {
  const auto details = read(GgufBuilder::small_model().bytes());
  ASSERT_TRUE(details);
  EXPECT_EQ(details->layers, R"([{"layer":"token_embd","bytes":8192},)"
                             R"({"layer":"blk.0","bytes":2560}])");
}

struct NeedCase {
  const char* name;
  std::function<void(GgufBuilder&)> add;
  const char* need;
};
class Needs : public GgufDetailsTest, public ::testing::WithParamInterface<NeedCase> {};

TEST_P(Needs, AreToldAsFarAsTheFileDoes) {
  GgufBuilder file;
  file.text("general.architecture", "x").tensor("token_embd.weight", {32}, 0, 128);
  GetParam().add(file);
  const auto details = read(file.bytes());
  ASSERT_TRUE(details) << details.error().message();
  EXPECT_THAT(details->need, HasSubstr(GetParam().need));
}

void attention(GgufBuilder& file) {
  file.u32("x.block_count", 2).u32("x.embedding_length", 64).u32("x.context_length", 100'000);
  file.u32("x.attention.head_count", 4);
}

INSTANTIATE_TEST_SUITE_P(
    Gguf, Needs,
    ::testing::Values(
        NeedCase{"Nothing", [](GgufBuilder&) {},
                 R"({"weights_bytes":128,"kv_bytes":null,"kv_context":null,"total_bytes":null,)"},
        // 2 blocks x 8192 tokens x 4 heads x (16 + 16) x 2 bytes
        NeedCase{"AllHeads", attention,
                 R"("kv_bytes":4194304,"kv_context":8192,"total_bytes":4194432,"note":""})"},
        NeedCase{"Grouped",
                 [](GgufBuilder& file) {
                   attention(file);
                   file.u32("x.attention.head_count_kv", 1);
                 },
                 R"("kv_bytes":1048576,)"},
        NeedCase{"OwnHeadLengths",
                 [](GgufBuilder& file) {
                   attention(file);
                   file.u32("x.attention.key_length", 24).u32("x.attention.value_length", 8);
                   file.u32("x.attention.head_count_kv", 1);
                 },
                 R"("kv_bytes":1048576,)"},
        NeedCase{"HeadsOfEachBlock",
                 [](GgufBuilder& file) {
                   attention(file);
                   file.array("x.attention.head_count_kv", 4, 2)
                       .more(std::string("\1\0\0\0\0\0\0\0", 8));
                 },
                 R"("kv_bytes":524288,)"},
        NeedCase{"Window",
                 [](GgufBuilder& file) {
                   attention(file);
                   file.u32("x.attention.sliding_window", 512);
                 },
                 "at most"},
        NeedCase{"Recurrent",
                 [](GgufBuilder& file) {
                   attention(file);
                   file.u32("x.ssm.state_size", 16);
                 },
                 R"("kv_bytes":null,"kv_context":8192,)"},
        NeedCase{"Hostile",
                 [](GgufBuilder& file) {
                   attention(file);
                   file.u32("x.attention.head_count_kv", 0x7fffffff);
                   file.u32("x.attention.key_length", 0x7fffffff);
                   file.u32("x.attention.value_length", 0x7fffffff);
                 },
                 R"("kv_bytes":null)"}),
    [](const auto& test) { return std::string{test.param.name}; });

}  // namespace
}  // namespace hearth

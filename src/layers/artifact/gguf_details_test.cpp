// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_details.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
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

}  // namespace
}  // namespace hearth

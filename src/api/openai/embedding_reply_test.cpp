// SPDX-License-Identifier: Apache-2.0
#include "api/openai/embedding_reply.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <vector>

namespace hearth::api::openai {
namespace {

namespace json = boost::json;

TEST(Base64, PacksLittleEndianFloats) {
  EXPECT_EQ(base64_of({}), "");
  EXPECT_EQ(base64_of(std::vector{1.0F}), "AACAPw==");
  EXPECT_EQ(base64_of(std::vector{1.0F, -2.5F}), "AACAPwAAIMA=");
  EXPECT_EQ(base64_of(std::vector{0.0F, 0.0F, 1.0F}), "AAAAAAAAAAAAAIA/");
}

TEST(EmbeddingJson, Floats) {
  front::Finished end;
  end.prompt_tokens = 3;
  const json::value body =
      json::parse(embedding_json("m:latest", {{0.5F, -1.0F}, {}}, VectorEncoding::kFloats, end));
  EXPECT_EQ(body.at("object"), "list");
  EXPECT_EQ(body.at("model"), "m:latest");
  EXPECT_EQ(body.at("data").at(0),
            json::parse(R"({"object":"embedding","index":0,"embedding":[0.5,-1]})"));
  EXPECT_EQ(body.at("data").at(1).at("index"), 1);
  EXPECT_EQ(body.at("usage"), json::parse(R"({"prompt_tokens":3,"total_tokens":3})"));
  EXPECT_TRUE(body.as_object().contains("hearth"));
}

TEST(EmbeddingJson, NeverHoldsWhatJsonCannotSay) {
  const auto text = embedding_json("m", {{NAN, INFINITY}}, VectorEncoding::kFloats, {});
  EXPECT_NE(text.find("[0,0]"), std::string::npos) << text;
}

TEST(EmbeddingJson, Base64) {
  const auto text = embedding_json("m", {{1.0F}}, VectorEncoding::kBase64, {});
  EXPECT_NE(text.find(R"("embedding":"AACAPw==")"), std::string::npos) << text;
}

}  // namespace
}  // namespace hearth::api::openai

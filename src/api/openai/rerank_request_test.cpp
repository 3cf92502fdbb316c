// SPDX-License-Identifier: Apache-2.0
#include "api/openai/rerank_request.h"

#include <gtest/gtest.h>

namespace hearth::api::openai {
namespace {

Result<RerankCall> parsed(std::string_view body) {
  return parse_rerank(boost::json::parse(body).as_object());
}

TEST(Rerank, ReadsWhatIsAsked) {
  const auto call = parsed(R"({"model":"m","query":"q","documents":["a",{"text":"b"}],
                               "top_n":1,"return_documents":true})");
  ASSERT_TRUE(call) << call.error().message();
  EXPECT_EQ(call->documents, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(call->most, 1);
  EXPECT_TRUE(call->with_documents);
}

struct Refusal {
  const char* body;
  const char* field;
};

class RerankRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(RerankRefusals, NamesTheField) {
  const auto call = parsed(GetParam().body);
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().field(), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Rerank, RerankRefusals,
    testing::Values(Refusal{R"({"query":"q","documents":["a"]})", "model"},
                    Refusal{R"({"model":"m","documents":["a"]})", "query"},
                    Refusal{R"({"model":"m","query":"q"})", "documents"},
                    Refusal{R"({"model":"m","query":"q","documents":[]})", "documents"},
                    Refusal{R"({"model":"m","query":"q","documents":[5]})", "documents[0]"},
                    Refusal{R"({"model":"m","query":"q","documents":[{}]})", "documents[0].text"},
                    Refusal{R"({"model":"m","query":"q","documents":["a"],"top_n":0})", "top_n"}));

}  // namespace
}  // namespace hearth::api::openai

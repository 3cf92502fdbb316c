// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/api.h"

namespace hearth::api {
namespace {

struct DialectCase {
  const char* name;
  const char* path;
  const char* header;
  const char* body;
};

class HttpError : public testing::TestWithParam<DialectCase> {};

TEST_P(HttpError, SpeaksTheDialectOfThePath) {
  http::HttpRequest head;
  head.path = GetParam().path;
  head.headers.push_back({GetParam().header, "x"});
  const http::HttpResponse response = http_error(413, "too large", &head);
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body, GetParam().body);
}

constexpr const char* kAnthropicBody =
    R"({"type":"error","error":{"type":"request_too_large","message":"too large"},)"
    R"("request_id":null})";

INSTANTIATE_TEST_SUITE_P(
    Api, HttpError,
    testing::Values(DialectCase{"OpenAi", "/v1/chat/completions", "a",
                                R"({"error":{"message":"too large","type":"invalid_request_error",)"
                                R"("param":null,"code":413}})"},
                    DialectCase{"Anthropic", "/v1/messages", "a", kAnthropicBody},
                    DialectCase{"AnthropicByHeader", "/v1/models", "Anthropic-Version",
                                kAnthropicBody},
                    DialectCase{"Ollama", "/api/chat", "a", R"({"error":"too large"})"},
                    DialectCase{"Hearth", "/api/hearth/load", "a",
                                R"({"error":{"message":"too large","type":"invalid_request_error",)"
                                R"("field":null}})"}),
    [](const auto& test) { return test.param.name; });

TEST(HttpError, WithoutARequestItIsOpenAis) {
  EXPECT_NE(http_error(503, "full", nullptr).body.find(R"("code":503)"), std::string::npos);
}

}  // namespace
}  // namespace hearth::api

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
  const http::HttpResponse response = http_error({}, 413, "too large.", &head);
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body, GetParam().body);
}

constexpr const char* kAnthropicBody =
    R"({"type":"error","error":{"type":"request_too_large","message":)"
    R"("too large. The option `max_body_mib` sets this limit."},"request_id":null})";

INSTANTIATE_TEST_SUITE_P(
    Api, HttpError,
    testing::Values(
        DialectCase{
            "OpenAi", "/v1/chat/completions", "a",
            R"({"error":{"message":"too large. The option `max_body_mib` sets this limit.","type":"invalid_request_error",)"
            R"("param":null,"code":413}})"},
        DialectCase{"Anthropic", "/v1/messages", "a", kAnthropicBody},
        DialectCase{"AnthropicByHeader", "/v1/models", "Anthropic-Version", kAnthropicBody},
        DialectCase{"Ollama", "/api/chat", "a",
                    R"({"error":"too large. The option `max_body_mib` sets this limit."})"},
        DialectCase{
            "Hearth", "/api/hearth/load", "a",
            R"({"error":{"message":"too large. The option `max_body_mib` sets this limit.","type":"invalid_request_error",)"
            R"("field":null}})"}),
    [](const auto& test) { return test.param.name; });

TEST(HttpError, NamesTheOptionBehindALimit) {
  const auto body = [](int status) { return http_error({}, status, "no.", nullptr).body; };
  EXPECT_NE(body(413).find("`max_body_mib`"), std::string::npos);
  EXPECT_NE(body(414).find("`max_header_kib`"), std::string::npos);
  EXPECT_NE(body(431).find("`max_header_kib`"), std::string::npos);
  EXPECT_EQ(body(408).find("option"), std::string::npos);
}

TEST(HttpError, CanBeReadByPagesThatMayAsk) {
  const front::AccessRules rules{{}, {"https://chat.example"}};
  http::HttpRequest head;
  head.path = "/v1/models";
  head.headers = {{"Host", "localhost"}, {"Origin", "https://chat.example"}};
  for (const int status : {408, 413, 431, 500, 503}) {
    const http::HttpResponse allowed = http_error(rules, status, "no", &head);
    EXPECT_EQ(allowed.header("Access-Control-Allow-Origin"), "https://chat.example");
    EXPECT_EQ(allowed.header("Vary"), "Origin");
    const http::HttpResponse foreign = http_error({}, status, "no", &head);
    EXPECT_FALSE(foreign.header("Access-Control-Allow-Origin"));
    EXPECT_EQ(foreign.header("Vary"), "Origin");
  }
  head.headers[0].value = "evil.example";
  EXPECT_FALSE(http_error(rules, 413, "no", &head).header("Access-Control-Allow-Origin"));
}

TEST(HttpError, WithoutARequestItIsOpenAis) {
  EXPECT_NE(http_error({}, 503, "full", nullptr).body.find(R"("code":503)"), std::string::npos);
}

}  // namespace
}  // namespace hearth::api

// SPDX-License-Identifier: Apache-2.0
#include "api/cors.h"

#include <gtest/gtest.h>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

using testing::FakeExchange;
using testing::FakeService;

class Cors : public ::testing::Test {
 protected:
  void answer(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange));
    loop.run_ready();
  }

  SimEventLoop loop;
  FakeService service{loop};
};

TEST_F(Cors, PreflightsOfAllowedPagesAreAnswered) {
  service.key_ring = front::KeyRing{{{front::KeyInfo{"k", "a", front::Role::kAdmin, 0}, "d"}}};
  FakeExchange exchange{"OPTIONS", "/v1/chat/completions"};
  exchange.edit().headers.push_back({"Origin", "http://localhost:3000"});
  exchange.edit().headers.push_back({"Access-Control-Request-Method", "POST"});
  exchange.edit().headers.push_back(
      {"Access-Control-Request-Headers", "authorization,x-stainless-os"});
  exchange.edit().headers.push_back({"Access-Control-Request-Private-Network", "true"});
  answer(exchange);
  EXPECT_EQ(exchange.status, 204);
  EXPECT_EQ(exchange.header("Access-Control-Allow-Origin"), "http://localhost:3000");
  EXPECT_EQ(exchange.header("Access-Control-Allow-Methods"), "GET, HEAD, POST, PUT, DELETE");
  EXPECT_EQ(exchange.header("Access-Control-Allow-Headers"), "authorization,x-stainless-os");
  EXPECT_EQ(exchange.header("Access-Control-Allow-Private-Network"), "true");
  EXPECT_EQ(exchange.header("Access-Control-Allow-Credentials"), "");
  EXPECT_EQ(exchange.header("Access-Control-Max-Age"), "3600");
  EXPECT_EQ(exchange.header("Vary"), "Origin");
}

TEST_F(Cors, HeaderNamesThatAreNoneAreNotRepeated) {
  FakeExchange exchange{"OPTIONS", "/"};
  exchange.edit().headers.push_back({"Origin", "http://localhost"});
  exchange.edit().headers.push_back({"Access-Control-Request-Method", "POST"});
  exchange.edit().headers.push_back({"Access-Control-Request-Headers", "a: b\r\nc"});
  answer(exchange);
  EXPECT_EQ(exchange.header("Access-Control-Allow-Headers").find("a: b"), std::string::npos);
  EXPECT_EQ(exchange.header("Access-Control-Allow-Private-Network"), "");
}

TEST_F(Cors, OtherPagesGetNoHeader) {
  for (const char* method : {"OPTIONS", "GET"}) {
    FakeExchange exchange{method, "/v1/models"};
    exchange.edit().headers.push_back({"Origin", "https://evil.example"});
    exchange.edit().headers.push_back({"Access-Control-Request-Method", "GET"});
    answer(exchange);
    EXPECT_EQ(exchange.status, 403);
    EXPECT_EQ(exchange.header("Vary"), "Origin");
    for (const http::Header& header : exchange.headers) {
      EXPECT_FALSE(header.name.starts_with("Access-Control-")) << header.name;
    }
  }
}

TEST_F(Cors, EveryAnswerToAnAllowedPageCanBeRead) {
  for (const char* path : {"/v1/models", "/nowhere", "/v1/models/unknown", "/health"}) {
    FakeExchange exchange{"GET", path};
    exchange.edit().headers.push_back({"Origin", "http://localhost"});
    answer(exchange);
    EXPECT_EQ(exchange.header("Access-Control-Allow-Origin"), "http://localhost") << path;
    EXPECT_NE(exchange.header("Access-Control-Expose-Headers").find("X-Request-Id"),
              std::string::npos);
  }
}

TEST_F(Cors, FailuresCanBeReadToo) {
  service.throws = true;
  FakeExchange exchange{"GET", "/v1/models/smol"};
  exchange.edit().headers.push_back({"Origin", "http://localhost"});
  answer(exchange);
  EXPECT_EQ(exchange.status, 500);
  EXPECT_EQ(exchange.header("Access-Control-Allow-Origin"), "http://localhost");
}

TEST_F(Cors, WithoutOriginOnlyVaryIsSaid) {
  FakeExchange exchange{"GET", "/v1/models"};
  answer(exchange);
  EXPECT_EQ(exchange.status, 200);
  EXPECT_EQ(exchange.header("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(exchange.header("Vary"), "Origin");
}

TEST_F(Cors, OptionsThatAreNoPreflightAreAWrongMethod) {
  FakeExchange exchange{"OPTIONS", "/v1/models"};
  answer(exchange);
  EXPECT_EQ(exchange.status, 405);
}

}  // namespace
}  // namespace hearth::api

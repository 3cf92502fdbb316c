// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

using testing::FakeExchange;
using testing::FakeService;

struct HeadCase {
  const char* name;
  const char* method;
  const char* path;
  http::Headers headers;
  int status;  // 0: the body is wanted
};

class EarlyAnswer : public ::testing::Test {
 protected:
  EarlyAnswer() {
    std::vector<front::KeyRing::Kept> keys;
    for (const front::Role role : {front::Role::kUse, front::Role::kAdmin}) {
      const std::string name{front::name_of(role)};
      keys.push_back({front::KeyInfo{"id-" + name, name, role, 1}, front::digest_of(name)});
    }
    service.key_ring = front::KeyRing{std::move(keys)};
  }

  SimEventLoop loop;
  FakeService service{loop};
};

class AnswerToHead : public EarlyAnswer, public ::testing::WithParamInterface<HeadCase> {};

// Whatever is answered early is answered alike without the hook.
TEST_P(AnswerToHead, IsWhatTheWholeRequestWouldGet) {
  FakeExchange exchange{GetParam().method, GetParam().path};
  for (const http::Header& header : GetParam().headers) exchange.edit().headers.push_back(header);
  const auto early = answer_to_head(service, exchange.request());
  ASSERT_EQ(early ? early->status : 0, GetParam().status);
  if (!early) return;
  EXPECT_EQ(early->header("Vary"), "Origin");
  loop.spawn(handle(service, exchange));
  loop.run_ready();
  EXPECT_EQ(exchange.status, early->status);
  EXPECT_EQ(exchange.body, early->body);
  EXPECT_EQ(exchange.headers.size(), early->headers.size());
  for (const http::Header& header : early->headers) {
    EXPECT_EQ(exchange.header(header.name), header.value);
  }
}

const http::Header kUse{"x-api-key", "use"};
const http::Header kPage{"Origin", "http://localhost:3000"};

INSTANTIATE_TEST_SUITE_P(
    Api, AnswerToHead,
    ::testing::Values(
        HeadCase{"Good", "POST", "/v1/chat/completions", {kUse}, 0},
        HeadCase{"GoodFromAPage", "POST", "/api/chat", {kUse, kPage}, 0},
        HeadCase{"NoKey", "POST", "/v1/chat/completions", {}, 401},
        HeadCase{"NoKeyFromAPage", "POST", "/v1/messages", {kPage}, 401},
        HeadCase{"WrongKey", "POST", "/api/chat", {{"x-api-key", "x"}}, 401},
        HeadCase{"WrongRole", "POST", "/api/hearth/pin", {kUse}, 403},
        HeadCase{"NoSuchPath", "POST", "/v1/chat", {}, 404},
        HeadCase{"WrongMethod", "PUT", "/api/chat", {}, 405},
        HeadCase{"Preflight",
                 "OPTIONS",
                 "/api/chat",
                 {kPage, {"Access-Control-Request-Method", "POST"}},
                 204},
        HeadCase{"ForeignPage", "POST", "/api/chat", {kUse, {"Origin", "https://a.example"}}, 403}),
    [](const auto& test) { return test.param.name; });

TEST_F(EarlyAnswer, CountsAFailureOnce) {
  FakeExchange exchange{"POST", "/api/chat"};
  EXPECT_TRUE(answer_to_head(service, exchange.request()));
  EXPECT_NE(service.metrics().text().find("hearth_auth_failures_total{reason=\"missing\"} 1\n"),
            std::string::npos);
}

TEST_F(EarlyAnswer, IsNotTheLastWord) {
  FakeExchange exchange{"POST", "/v1/completions", R"({"model":"smol","prompt":"a"})"};
  exchange.edit().headers.push_back(kUse);
  EXPECT_FALSE(answer_to_head(service, exchange.request()));
  service.key_ring = front::KeyRing{{service.key_ring.keys().back()}};
  loop.spawn(handle(service, exchange));
  loop.run_ready();
  EXPECT_EQ(exchange.status, 401) << "the key was taken back while the body came";
}

}  // namespace
}  // namespace hearth::api

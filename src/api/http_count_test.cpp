// SPDX-License-Identifier: Apache-2.0
#include "api/http_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"
#include "timeline/metrics.h"

namespace hearth::api {
namespace {

using testing::FakeExchange;
using testing::FakeService;
using ::testing::HasSubstr;
using ::testing::Not;

class HttpCount : public ::testing::Test {
 protected:
  void ask(FakeExchange exchange) {
    exchange.edit().first_byte = loop.now() - std::chrono::milliseconds{30};
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }
  std::string shown() { return service.metrics().text(); }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

TEST_F(HttpCount, IsByRouteAndStatusAndNamesNothingThatClientsSent) {
  ask(FakeExchange{"GET", "/health"});
  ask(FakeExchange{"HEAD", "/health"});
  ask(FakeExchange{"GET", "/v1/models/secret"});
  ask(FakeExchange{"GET", "/secret"});
  ask(FakeExchange{"SECRET", "/health"});
  const std::string text = shown();
  EXPECT_THAT(text, HasSubstr(R"(_total{method="GET",route="/health",status="200"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(_total{method="HEAD",route="/health",status="200"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(_total{method="GET",route="/v1/models/{rest}",status="404"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(_total{method="other",route="other",status="404"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(_total{method="other",route="other",status="405"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(_seconds_bucket{method="GET",route="/health",le="0.025"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(_seconds_bucket{method="GET",route="/health",le="0.05"} 1)"));
  EXPECT_THAT(text, Not(HasSubstr("ecret")));
}

TEST_F(HttpCount, HasWhatTheHttpServerRefuses) {
  const FakeExchange exchange{"POST", "/api/chat"};
  EXPECT_EQ(refused(service, 413, "too large", &exchange.request()).status, 413);
  EXPECT_EQ(refused(service, 400, "no HTTP", nullptr).status, 400);
  EXPECT_THAT(shown(), HasSubstr(R"(_total{method="POST",route="/api/chat",status="413"} 1)"));
  EXPECT_THAT(shown(), HasSubstr(R"(_total{method="other",route="other",status="400"} 1)"));
}

TEST_F(HttpCount, HasClientsThatLeaveBeforeAnAnswer) {
  FakeExchange exchange{"POST", "/v1/completions", R"({"model":"smol","prompt":"a"})"};
  loop.spawn(handle(service, exchange, options));
  loop.run_ready();
  exchange.leave();
  loop.run_ready();
  EXPECT_EQ(exchange.answers, 0);
  EXPECT_THAT(shown(), HasSubstr(R"(_total{method="POST",route="/v1/completions",status="499"})"));
}

}  // namespace
}  // namespace hearth::api

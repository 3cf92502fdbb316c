// SPDX-License-Identifier: Apache-2.0
#include "api/access.h"

#include <gtest/gtest.h>

namespace hearth::api {
namespace {

http::HttpRequest request_to(const char* host, const char* origin) {
  http::HttpRequest request;
  request.headers.push_back({"Host", host});
  if (*origin != '\0') request.headers.push_back({"Origin", origin});
  return request;
}

struct AccessCase {
  const char* host;
  const char* origin;  // empty: none
  enum { kAllowed, kRefused } outcome;
};

class Access : public testing::TestWithParam<AccessCase> {};

TEST_P(Access, Decides) {
  const front::AccessRules rules{{"ai.example.org", "*.lan.example.org"}, {}};
  const Arrival arrival = arrival_of(request_to(GetParam().host, GetParam().origin), rules);
  const bool refused = GetParam().outcome == AccessCase::kRefused;
  EXPECT_EQ(arrival.refusal.has_value(), refused);
  EXPECT_EQ(arrival.origin, refused ? "" : GetParam().origin);
}

INSTANTIATE_TEST_SUITE_P(
    Names, Access,
    testing::Values(AccessCase{"127.0.0.1:11435", "", AccessCase::kAllowed},
                    AccessCase{"[::1]:11435", "", AccessCase::kAllowed},
                    AccessCase{"LOCALHOST", "", AccessCase::kAllowed},
                    AccessCase{"nas", "", AccessCase::kAllowed},
                    AccessCase{"nas.local:80", "", AccessCase::kAllowed},
                    AccessCase{"ai.example.org", "", AccessCase::kAllowed},
                    AccessCase{"AI.example.org.:443", "", AccessCase::kAllowed},
                    AccessCase{"a.b.lan.example.org", "", AccessCase::kAllowed},
                    AccessCase{"lan.example.org", "", AccessCase::kRefused},
                    AccessCase{"evil.example", "", AccessCase::kRefused},
                    AccessCase{"evil.example.", "", AccessCase::kRefused},
                    AccessCase{"127.0.0.1.evil.example", "", AccessCase::kRefused},
                    AccessCase{"localhost:80@evil.example", "", AccessCase::kRefused},
                    AccessCase{"[::1", "", AccessCase::kRefused},
                    AccessCase{"[::1]x", "", AccessCase::kRefused},
                    AccessCase{"", "", AccessCase::kRefused}));

INSTANTIATE_TEST_SUITE_P(
    Origins, Access,
    testing::Values(AccessCase{"localhost", "http://localhost:3000", AccessCase::kAllowed},
                    AccessCase{"localhost", "https://evil.example", AccessCase::kRefused},
                    AccessCase{"localhost", "http://127.0.0.1:3000", AccessCase::kAllowed},
                    AccessCase{"localhost", "http://[::1]:3000", AccessCase::kAllowed},
                    AccessCase{"ai.example.org:1", "https://ai.example.org", AccessCase::kAllowed},
                    AccessCase{"AI.example.org.", "https://ai.example.org", AccessCase::kAllowed},
                    AccessCase{"localhost", "https://ai.example.org", AccessCase::kRefused},
                    AccessCase{"ai.example.org", "https://a.lan.example.org", AccessCase::kRefused},
                    AccessCase{"192.0.2.7:11435", "http://192.0.2.7:3000", AccessCase::kAllowed},
                    AccessCase{"localhost", "http://192.0.2.66", AccessCase::kRefused},
                    AccessCase{"localhost", "http://[2001:db8::1]", AccessCase::kRefused},
                    AccessCase{"localhost", "http://localhost:80@evil.example",
                               AccessCase::kRefused},
                    AccessCase{"localhost", "app://obsidian.md", AccessCase::kAllowed},
                    AccessCase{"localhost", "file://", AccessCase::kAllowed},
                    AccessCase{"localhost", "tauri://localhost", AccessCase::kAllowed},
                    AccessCase{"localhost", "chrome-extension://abcdef", AccessCase::kRefused},
                    AccessCase{"localhost", "localhost", AccessCase::kRefused},
                    AccessCase{"localhost", "http://", AccessCase::kRefused},
                    AccessCase{"localhost", "null", AccessCase::kRefused}));

// By whatever name the server may be called: that alone lets no page of another host in.
TEST(AccessByAnyName, IsNotForPagesOfAnyOrigin) {
  for (const char* rule : {"*", "*.", "*:443", "*.example"}) {
    const front::AccessRules rules{{rule}, {}};
    const auto refused = [&](const char* host, const char* origin) {
      return arrival_of(request_to(host, origin), rules).refusal.has_value();
    };
    EXPECT_FALSE(refused("ai.example", "")) << rule;
    EXPECT_FALSE(refused("ai.example", "https://ai.example")) << rule;
    EXPECT_TRUE(refused("ai.example", "https://evil.example")) << rule;
    EXPECT_TRUE(refused("127.0.0.1", "https://evil.example")) << rule;
    EXPECT_TRUE(refused("localhost", "http://192.0.2.66")) << rule;
    EXPECT_TRUE(refused("localhost", "null")) << rule;
  }
}

TEST(AccessOfOldClients, LetsNoPageInByAnEmptyName) {
  http::HttpRequest request;
  request.headers.push_back({"Origin", "http://"});
  EXPECT_TRUE(arrival_of(request, front::AccessRules{{"*"}, {}}).refusal);
}

TEST(AccessOfOldClients, NeedsNoHost) {
  EXPECT_FALSE(arrival_of(http::HttpRequest{}, front::AccessRules{}).refusal);
}

struct RuleCase {
  const char* rule;
  const char* origin;
  enum { kAllowed, kRefused } outcome;
};

class OriginRule : public testing::TestWithParam<RuleCase> {};

TEST_P(OriginRule, Decides) {
  const front::AccessRules rules{{}, {"https://other.example", GetParam().rule}};
  const Arrival arrival = arrival_of(request_to("localhost", GetParam().origin), rules);
  EXPECT_EQ(arrival.refusal.has_value(), GetParam().outcome == RuleCase::kRefused)
      << GetParam().rule << " " << GetParam().origin;
}

INSTANTIATE_TEST_SUITE_P(
    Exact, OriginRule,
    testing::Values(
        RuleCase{"https://a.example", "https://a.example", RuleCase::kAllowed},
        RuleCase{"https://A.Example/", "https://a.example", RuleCase::kAllowed},
        RuleCase{"https://a.example:443", "https://a.example", RuleCase::kAllowed},
        RuleCase{"https://a.example:8443", "https://a.example:8443", RuleCase::kAllowed},
        RuleCase{"https://a.example", "https://a.example:8443", RuleCase::kRefused},
        RuleCase{"https://a.example", "http://a.example", RuleCase::kRefused},
        RuleCase{"https://a.example", "https://b.a.example", RuleCase::kRefused},
        RuleCase{"https://a.example", "https://a.example.evil.example", RuleCase::kRefused},
        RuleCase{"a.example", "http://a.example:3000", RuleCase::kAllowed},
        RuleCase{"a.example:3000", "http://a.example:3000", RuleCase::kAllowed},
        RuleCase{"a.example:3000", "http://a.example:3001", RuleCase::kRefused},
        RuleCase{"a.example", "ftp://a.example", RuleCase::kRefused},
        RuleCase{"null", "null", RuleCase::kAllowed}));

INSTANTIATE_TEST_SUITE_P(
    Wild, OriginRule,
    testing::Values(
        RuleCase{"*", "https://a.example", RuleCase::kAllowed},
        RuleCase{"*", "chrome-extension://abc", RuleCase::kAllowed},
        RuleCase{"*", "null", RuleCase::kRefused}, RuleCase{"*", "rubbish", RuleCase::kRefused},
        RuleCase{"https://*.home.example", "https://chat.home.example", RuleCase::kAllowed},
        RuleCase{"https://*.home.example", "https://a.b.home.example", RuleCase::kAllowed},
        RuleCase{"https://*.home.example", "https://home.example", RuleCase::kRefused},
        RuleCase{"https://*.home.example", "https://evilhome.example", RuleCase::kRefused},
        RuleCase{"http://a.example:*", "http://a.example:3000", RuleCase::kAllowed},
        RuleCase{"http://a.example:*", "http://a.example", RuleCase::kAllowed},
        RuleCase{"chrome-extension://*", "chrome-extension://abc", RuleCase::kAllowed},
        RuleCase{"chrome-extension://*", "moz-extension://abc", RuleCase::kRefused}));

}  // namespace
}  // namespace hearth::api

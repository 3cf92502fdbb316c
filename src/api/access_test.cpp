// SPDX-License-Identifier: Apache-2.0
#include "api/access.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth::api {
namespace {

struct AccessCase {
  const char* host;
  const char* origin;  // empty: none
  enum { kAllowed, kRefused } outcome;
};

class Access : public testing::TestWithParam<AccessCase> {};

TEST_P(Access, Decides) {
  http::HttpRequest request;
  request.headers.push_back({"Host", GetParam().host});
  if (*GetParam().origin != '\0') request.headers.push_back({"Origin", GetParam().origin});
  const std::vector<std::string> extra{"ai.example.org"};
  EXPECT_EQ(refusal_of(request, extra).has_value(), GetParam().outcome == AccessCase::kRefused);
}

INSTANTIATE_TEST_SUITE_P(
    Names, Access,
    testing::Values(AccessCase{"127.0.0.1:11435", "", AccessCase::kAllowed},
                    AccessCase{"[::1]:11435", "", AccessCase::kAllowed},
                    AccessCase{"LOCALHOST", "", AccessCase::kAllowed},
                    AccessCase{"nas", "", AccessCase::kAllowed},
                    AccessCase{"nas.local:80", "", AccessCase::kAllowed},
                    AccessCase{"ai.example.org", "", AccessCase::kAllowed},
                    AccessCase{"evil.example", "", AccessCase::kRefused},
                    AccessCase{"evil.example.", "", AccessCase::kRefused},
                    AccessCase{"127.0.0.1.evil.example", "", AccessCase::kRefused},
                    AccessCase{"", "", AccessCase::kRefused},
                    AccessCase{"localhost", "http://localhost:3000", AccessCase::kAllowed},
                    AccessCase{"localhost", "https://evil.example", AccessCase::kRefused},
                    AccessCase{"localhost", "http://127.0.0.1:3000", AccessCase::kAllowed},
                    AccessCase{"localhost", "http://[::1]:3000", AccessCase::kAllowed},
                    AccessCase{"192.0.2.7:11435", "http://192.0.2.7:3000", AccessCase::kAllowed},
                    AccessCase{"localhost", "http://192.0.2.66", AccessCase::kRefused},
                    AccessCase{"localhost", "http://[2001:db8::1]", AccessCase::kRefused},
                    AccessCase{"localhost", "null", AccessCase::kRefused}));

TEST(AccessOfOldClients, NeedsNoHost) { EXPECT_FALSE(refusal_of(http::HttpRequest{}, {})); }

}  // namespace
}  // namespace hearth::api

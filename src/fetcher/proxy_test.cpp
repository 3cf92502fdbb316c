// SPDX-License-Identifier: Apache-2.0
#include "fetcher/proxy.h"

#include <gtest/gtest.h>

#include <map>

namespace hearth::fetcher {
namespace {

std::string proxy(const char* url, const std::map<std::string, std::string>& variables) {
  return proxy_for(*Url::parse(url), [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string{} : found->second;
  });
}

TEST(Proxy, IsChosenByScheme) {
  EXPECT_EQ(proxy("https://a.b/", {}), "");
  EXPECT_EQ(proxy("https://a.b/", {{"HTTPS_PROXY", "p:1"}, {"HTTP_PROXY", "q:1"}}), "p:1");
  EXPECT_EQ(proxy("http://a.b/", {{"HTTPS_PROXY", "p:1"}, {"HTTP_PROXY", "q:1"}}), "q:1");
  EXPECT_EQ(proxy("https://a.b/", {{"https_proxy", "low"}, {"HTTPS_PROXY", "UP"}}), "low");
  EXPECT_EQ(proxy("https://a.b/", {{"ALL_PROXY", "p:1"}}), "p:1");
  EXPECT_EQ(proxy("https://a.b/", {{"ALL_PROXY", "p:1"}, {"NO_PROXY", "b"}}), "");
}

struct DirectCase {
  const char* name;
  const char* url;
  const char* list;
  bool direct;
};

class Direct : public testing::TestWithParam<DirectCase> {};

TEST_P(Direct, AsListed) {
  EXPECT_EQ(goes_direct(*Url::parse(GetParam().url), GetParam().list), GetParam().direct);
}

INSTANTIATE_TEST_SUITE_P(
    NoProxy, Direct,
    testing::Values(DirectCase{"Nothing", "https://a.b/", "", false},
                    DirectCase{"All", "https://a.b/", "x, *", true},
                    DirectCase{"Exact", "https://a.b/", "c.d,a.b", true},
                    DirectCase{"Below", "https://x.a.b/", "a.b", true},
                    DirectCase{"BelowWithDot", "https://x.a.b/", ".A.b", true},
                    DirectCase{"BelowWithStar", "https://x.a.b/", "*.a.b", true},
                    DirectCase{"NoPartOfALabel", "https://xa.b/", "a.b", false},
                    DirectCase{"ThisPort", "https://a.b:8443/", "a.b:8443", true},
                    DirectCase{"OtherPort", "https://a.b/", "a.b:8443", false},
                    DirectCase{"Address", "http://10.1.2.3/", "10.1.2.3", true},
                    DirectCase{"Network", "http://10.1.2.3/", "10.0.0.0/8", true},
                    DirectCase{"OtherNetwork", "http://11.1.2.3/", "10.0.0.0/8", false},
                    DirectCase{"SixBrackets", "http://[::1]/", "[::1]", true},
                    DirectCase{"SixPort", "http://[::1]:81/", "[::1]:80", false},
                    DirectCase{"SixNetwork", "http://[fd00::1]/", "fd00::/8", true},
                    DirectCase{"BadBits", "http://10.1.2.3/", "10.0.0.0/x", false}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::fetcher

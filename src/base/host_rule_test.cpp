// SPDX-License-Identifier: Apache-2.0
#include "base/host_rule.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

struct MatchCase {
  const char* name;
  const char* rule;
  const char* scheme;
  const char* host;
  std::uint16_t port;
  bool matches;
};

class HostRuleMatches : public testing::TestWithParam<MatchCase> {};

TEST_P(HostRuleMatches, Decides) {
  const MatchCase& c = GetParam();
  const auto rule = HostRule::parse(c.rule);
  ASSERT_TRUE(rule) << rule.error().message();
  EXPECT_EQ(rule->matches(c.scheme, c.host, c.port), c.matches);
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, HostRuleMatches,
    testing::Values(
        MatchCase{"Same", "Models.Example", "https", "models.example", 443, true},
        MatchCase{"OtherPort", "models.example", "https", "models.example", 8443, false},
        MatchCase{"NamedPort", "models.example:8443", "https", "models.example", 8443, true},
        MatchCase{"PlainIsNotMeant", "models.example", "http", "models.example", 80, false},
        MatchCase{"PlainIsMeant", "http://nas.lan:8080", "http", "nas.lan", 8080, true},
        MatchCase{"Below", "*.example", "https", "a.b.example", 443, true},
        MatchCase{"BelowIsNotItself", "*.example", "https", "example", 443, false},
        MatchCase{"BelowIsNotAlike", "*.example", "https", "badexample", 443, false},
        MatchCase{"All", "*", "https", "anything.at.all", 443, true},
        MatchCase{"AllIsNotPlain", "*", "http", "anything.at.all", 80, false},
        MatchCase{"SixBits", "http://[::1]:9", "http", "::1", 9, true},
        MatchCase{"SixBitsWithoutPort", "[fe80::1]", "https", "fe80::1", 443, true}),
    [](const auto& test) { return test.param.name; });

class HostRuleRefuses : public testing::TestWithParam<const char*> {};

TEST_P(HostRuleRefuses, SaysWhatItWants) {
  const auto rule = HostRule::parse(GetParam());
  ASSERT_FALSE(rule);
  EXPECT_NE(rule.error().message().find("must be hosts"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Texts, HostRuleRefuses,
                         testing::Values("", "ftp://a", "a/b", "a b", "a:0", "a:70000", "a:x",
                                         "https://", "*."));

}  // namespace
}  // namespace hearth

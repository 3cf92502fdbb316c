// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <gtest/gtest.h>

namespace hearth::http {
namespace {

struct PathCase {
  const char* name;
  std::string_view raw;
  std::optional<std::string> path;
};

class NormalPath : public testing::TestWithParam<PathCase> {};

TEST_P(NormalPath, IsDecodedOrRefused) { EXPECT_EQ(normal_path(GetParam().raw), GetParam().path); }

INSTANTIATE_TEST_SUITE_P(
    Message, NormalPath,
    testing::Values(
        PathCase{"Root", "/", "/"}, PathCase{"Plain", "/v1/models", "/v1/models"},
        PathCase{"TrailingSlash", "/v1/", "/v1/"},
        PathCase{"DoubleSlash", "//v1//models", "/v1/models"}, PathCase{"OnlySlashes", "///", "/"},
        PathCase{"Escapes", "/a%20b%c3%a4", "/a b\xc3\xa4"},
        PathCase{"EscapedSlash", "/m/org%2Fname", "/m/org/name"},
        PathCase{"PlusStays", "/a+b", "/a+b"}, PathCase{"Dots", "/a..b/...", "/a..b/..."},
        PathCase{"Parent", "/a/../b", std::nullopt}, PathCase{"Here", "/a/./b", std::nullopt},
        PathCase{"ParentAtEnd", "/a/..", std::nullopt},
        PathCase{"EscapedParent", "/a/%2e%2E/b", std::nullopt},
        PathCase{"EscapedSlashAndParent", "/a/..%2fb", std::nullopt},
        PathCase{"Nul", "/a%00b", std::nullopt}, PathCase{"HalfEscape", "/a%2", std::nullopt},
        PathCase{"NoHex", "/a%zz", std::nullopt}, PathCase{"Relative", "a/b", std::nullopt},
        PathCase{"Empty", "", std::nullopt}),
    [](const auto& test) { return test.param.name; });

struct ParameterCase {
  const char* name;
  const char* query;
  std::optional<std::string> value;  // of "key"
};

class Parameter : public testing::TestWithParam<ParameterCase> {};

TEST_P(Parameter, IsFoundAndDecoded) {
  HttpRequest request;
  request.query = GetParam().query;
  EXPECT_EQ(request.parameter("key"), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(Message, Parameter,
                         testing::Values(ParameterCase{"None", "", std::nullopt},
                                         ParameterCase{"Other", "a=1&b=2", std::nullopt},
                                         ParameterCase{"Simple", "a=1&key=2", "2"},
                                         ParameterCase{"First", "key=1&key=2", "1"},
                                         ParameterCase{"NoValue", "key", ""},
                                         ParameterCase{"EmptyValue", "key=&a", ""},
                                         ParameterCase{"PlusAndEscape", "key=a+b%2Bc%26", "a b+c&"},
                                         ParameterCase{"EscapedName", "%6bey=1", "1"},
                                         ParameterCase{"EqualsInValue", "key=a=b", "a=b"},
                                         ParameterCase{"Malformed", "key=%4", std::nullopt},
                                         ParameterCase{"EmptyPairs", "&&key=1&", "1"}),
                         [](const auto& test) { return test.param.name; });

TEST(Message, HeadersAreFoundWithoutCase) {
  const Headers headers{{"X-One", "1"}, {"x-one", "2"}};
  EXPECT_EQ(header_of(headers, "x-ONE"), "1");
  EXPECT_EQ(header_of(headers, "x-on"), std::nullopt);
}

}  // namespace
}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#include "fetcher/response_head.h"

#include <gtest/gtest.h>

namespace hearth::fetcher {
namespace {

TEST(ResponseHead, KeepsTheLastAnswersFields) {
  HeadReader reader;
  for (const char* line :
       {"HTTP/1.1 100 Continue\r\n", "X-Old: 1\r\n", "\r\n", "HTTP/1.1 206 Partial Content\r\n",
        "ETag:  \"a:b\" \r\n", "content-LENGTH: 12\r\n", "garbage\r\n", "\r\n"}) {
    ASSERT_TRUE(reader.add(line));
  }
  EXPECT_EQ(reader.head().status, 206);
  EXPECT_EQ(reader.head().fields.size(), 2U);
  EXPECT_EQ(reader.head().field("etag"), "\"a:b\"");
  EXPECT_EQ(reader.head().content_length(), 12U);
  EXPECT_EQ(reader.head().field("x-old"), "");
}

TEST(ResponseHead, EndsAFloodOfHeaders) {
  HeadReader many;
  int lines = 0;
  while (many.add("A: b\r\n") && lines < 10'000) ++lines;
  EXPECT_EQ(lines, 200);
  HeadReader large;
  ASSERT_TRUE(large.add("A: " + std::string(60'000, 'x')));
  EXPECT_FALSE(large.add("A: " + std::string(60'000, 'x')));
}

struct RangeCase {
  const char* name;
  const char* text;
  std::optional<ContentRange> parsed;
};

class ContentRanges : public testing::TestWithParam<RangeCase> {};

TEST_P(ContentRanges, AreUnderstoodOrNot) {
  EXPECT_EQ(ContentRange::parse(GetParam().text), GetParam().parsed);
}

INSTANTIATE_TEST_SUITE_P(
    All, ContentRanges,
    testing::Values(RangeCase{"Usual", "bytes 0-99/1000", ContentRange{0, 99, 1000}},
                    RangeCase{"UnknownWhole", "bytes 5-9/*", ContentRange{5, 9, std::nullopt}},
                    RangeCase{"None", "bytes */1000",
                              ContentRange{std::nullopt, std::nullopt, 1000}},
                    RangeCase{"Backwards", "bytes 9-5/10", std::nullopt},
                    RangeCase{"BeyondTheEnd", "bytes 0-10/10", std::nullopt},
                    RangeCase{"OtherUnit", "items 0-1/2", std::nullopt},
                    RangeCase{"Negative", "bytes -1-1/2", std::nullopt},
                    RangeCase{"TooLarge", "bytes 0-99999999999999999999/*", std::nullopt},
                    RangeCase{"NoWhole", "bytes 0-1/", std::nullopt},
                    RangeCase{"Nothing", "", std::nullopt}),
    [](const auto& test) { return test.param.name; });

TEST(ResponseHead, OnlyStrongTagsPromiseBytes) {
  EXPECT_TRUE(is_strong_etag("\"abc\""));
  EXPECT_FALSE(is_strong_etag("W/\"abc\""));
  EXPECT_FALSE(is_strong_etag("Tue, 01 Jan 2030 00:00:00 GMT"));
  EXPECT_FALSE(is_strong_etag("\""));
  EXPECT_FALSE(is_strong_etag(""));
}

TEST(ResponseHead, HeadersToSendAreChecked) {
  EXPECT_TRUE(check_header({"Authorization", "Bearer x"}));
  EXPECT_TRUE(check_header({"x", ""}));
  const auto split = check_header({"x", "secret\r\nHost: y"});
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().message().find("secret"), std::string::npos);
  EXPECT_FALSE(check_header({"a b", "x"}));
  EXPECT_FALSE(check_header({"", "x"}));
  EXPECT_FALSE(check_header({"a:", "x"}));
}

TEST(ResponseHead, StatusesHaveOurWords) {
  EXPECT_EQ(status_words(403), "403 Forbidden");
  EXPECT_EQ(status_words(599), "599");
}

}  // namespace
}  // namespace hearth::fetcher

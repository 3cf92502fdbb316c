// SPDX-License-Identifier: Apache-2.0
#include "fetcher/url.h"

#include <gtest/gtest.h>

namespace hearth::fetcher {
namespace {

struct UrlCase {
  const char* name;
  const char* text;
  const char* host;
  int port;
  const char* whole;
};

class GoodUrl : public testing::TestWithParam<UrlCase> {};

TEST_P(GoodUrl, IsTakenApart) {
  const auto url = Url::parse(GetParam().text);
  ASSERT_TRUE(url) << url.error().message();
  EXPECT_EQ(url->host(), GetParam().host);
  EXPECT_EQ(url->port(), GetParam().port);
  EXPECT_EQ(url->text(), GetParam().whole);
}

INSTANTIATE_TEST_SUITE_P(
    All, GoodUrl,
    testing::Values(
        UrlCase{"Plain", "https://hf.co/a/b?c=d", "hf.co", 443, "https://hf.co/a/b?c=d"},
        UrlCase{"Port", "http://NAS.lan:8080/x", "nas.lan", 8080, "http://NAS.lan:8080/x"},
        UrlCase{"Fragment", "https://a.b/c#d", "a.b", 443, "https://a.b/c"},
        UrlCase{"V6", "http://[FE80::1]:81/", "fe80::1", 81, "http://[FE80::1]:81/"},
        UrlCase{"OddV4", "http://0x7f.1/", "127.0.0.1", 80, "http://127.0.0.1/"},
        UrlCase{"NumberV4", "http://2130706433/", "127.0.0.1", 80, "http://127.0.0.1/"},
        UrlCase{"NoPath", "HTTPS://a.b", "a.b", 443, "https://a.b/"}),
    [](const auto& test) { return test.param.name; });

TEST(Url, RefusesWhatItIsNotFor) {
  for (const char* text :
       {"", "a.b/c", "ftp://a.b/c", "file:///etc/passwd", "https://u:p@a.b/", "https://u@a.b/",
        "https://a.b/c d", "https://a.b/\r\nX: y", "https://a.b\\@c.d/", "https://",
        "https://a.b:0/", "https://a.b:99999/", "http://[fe80::1%25eth0]/", "https://b\xc3\xbc.de/",
        "https://a.b:x/", "data:,x", "javascript:x"}) {
    const auto url = Url::parse(text);
    ASSERT_FALSE(url) << text << " -> " << url->text();
    EXPECT_EQ(url.error().code(), ErrorCode::kInvalid);
  }
  EXPECT_FALSE(Url::parse("https://a.b/" + std::string(20'000, 'x')));
}

TEST(Url, ErrorsDoNotRepeatIt) {
  const auto url = Url::parse("https://user:secret@a.b/?sig=secret");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().message().find("secret"), std::string::npos);
}

TEST(Url, FollowsALocation) {
  const Url from = *Url::parse("https://a.b/c/d?e");
  const auto to = [&](const char* location) {
    const auto url = from.resolve(location);
    return url ? url->text() : url.error().message();
  };
  EXPECT_EQ(to("/x"), "https://a.b/x");
  EXPECT_EQ(to("x?y"), "https://a.b/c/x?y");
  EXPECT_EQ(to("../x"), "https://a.b/x");
  EXPECT_EQ(to("//other.c/x"), "https://other.c/x");
  EXPECT_EQ(to("http://other.c"), "http://other.c/");
  EXPECT_EQ(to("ftp://other.c"), "the URL is neither http nor https");
  EXPECT_EQ(to("file:///etc/passwd"), "the URL is neither http nor https");
}

TEST(Url, CredentialsAreForOneOrigin) {
  const Url url = *Url::parse("https://a.b/c");
  EXPECT_TRUE(url.same_origin(*Url::parse("https://A.b:443/x")));
  EXPECT_FALSE(url.same_origin(*Url::parse("http://a.b/c")));
  EXPECT_FALSE(url.same_origin(*Url::parse("https://a.b:444/c")));
  EXPECT_FALSE(url.same_origin(*Url::parse("https://www.a.b/c")));
  EXPECT_EQ(url.server(), "a.b");
  EXPECT_EQ(Url::parse("https://a.b:444/")->server(), "a.b:444");
  EXPECT_EQ(Url::parse("http://[::1]:80/")->server(), "[::1]");
}

}  // namespace
}  // namespace hearth::fetcher

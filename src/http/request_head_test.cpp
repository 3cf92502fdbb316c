// SPDX-License-Identifier: Apache-2.0
#include "http/request_head.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "http/request_parser.h"

namespace hearth::http {
namespace {

struct PeekCase {
  const char* name;
  std::string bytes;
  const char* path;  // nullptr: nothing is known
};

class Peek : public testing::TestWithParam<PeekCase> {};

TEST_P(Peek, FindsThePath) {
  const auto head = peek_head(GetParam().bytes);
  ASSERT_EQ(head.has_value(), GetParam().path != nullptr);
  EXPECT_EQ(head ? head->path : "", head ? GetParam().path : "");
}

INSTANTIATE_TEST_SUITE_P(
    Head, Peek,
    testing::Values(PeekCase{"Nothing", "", nullptr}, PeekCase{"HalfALine", "GET /v1/m", nullptr},
                    PeekCase{"LineWithoutItsEnd", "GET /v1/models HTTP/1.1\r", nullptr},
                    PeekCase{"Line", "GET /v1/models HTTP/1.1\r\n", "/v1/models"},
                    PeekCase{"BareLf", "GET /v1/models HTTP/1.1\n", "/v1/models"},
                    PeekCase{"OtherVersion", "GET //v1/%6dodels?a HTTP/2.0\r\n", "/v1/models"},
                    PeekCase{"Absolute", "GET http://h:1/api/tags HTTP/1.1\r\n", "/api/tags"},
                    PeekCase{"Oldest", "GET /\r\n", nullptr},
                    PeekCase{"BadPath", "GET /a/../b HTTP/1.1\r\n", nullptr},
                    PeekCase{"Tls", std::string("\x16\x03\x01\x00\n", 5), nullptr}),
    [](const auto& test) { return test.param.name; });

TEST(PeekHead, TakesTheHeaderLinesThatHaveCome) {
  const auto head = peek_head("POST /x?q=1 HTTP/1.1\r\nA:  b \r\nnonsense\r\nC: d\r\nE: f");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->query, "q=1");
  EXPECT_EQ(head->header("a"), "b");
  EXPECT_EQ(head->header("c"), "d");
  EXPECT_FALSE(head->header("e"));
}

TEST(PeekHead, StopsAtTheBody) {
  const auto head = peek_head("POST /x HTTP/1.1\r\n\r\nA: b\r\n");
  ASSERT_TRUE(head);
  EXPECT_TRUE(head->headers.empty());
}

class Mistake : public testing::TestWithParam<const char*> {};

// Each of these is wrong from its last byte on and not before.
TEST_P(Mistake, IsFoundWhenItComesByteByByte) {
  const std::string bytes = std::string{"GET / HTTP/1.1\r\nHost: x\r\n"} + GetParam();
  RequestParser parser{Bytes{4096}, Bytes{100}};
  for (std::size_t n = 1; n < bytes.size(); ++n) {
    EXPECT_TRUE(parser.feed(bytes.substr(0, n))) << bytes.substr(0, n);
  }
  const auto progress = parser.feed(bytes);
  ASSERT_FALSE(progress);
  EXPECT_EQ(progress.error().status, 400);
  EXPECT_EQ(parser.head(bytes)->path, "/");
}

INSTANTIATE_TEST_SUITE_P(Parser, Mistake,
                         testing::Values("A: b\r\n ", "A: b\r\n\t", "A: b\n", "\n"));

TEST(Parser, HoldsNoMoreThanHasArrived) {
  RequestParser parser{Bytes{4096}, Bytes{std::uint64_t{64} << 20}};
  const std::string head = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n";
  ASSERT_TRUE(parser.feed(head));
  ASSERT_TRUE(parser.feed(std::string(1000, 'x')));
  EXPECT_EQ(parser.body_received(), Bytes{1000});
  EXPECT_LE(parser.body_held(), Bytes{4000});
}

enum class Coding { kNone, kChunked };

// Feeds a body of `length` bytes in pieces, as a connection does; what it took at most.
Bytes most_held(RequestParser& parser, std::size_t length, Coding coding) {
  Bytes most;
  std::string input;
  for (std::size_t left = length; left > 0;) {
    const std::size_t n = std::min<std::size_t>(left, 3000);
    const std::string piece(n, 'x');
    input += coding == Coding::kChunked ? fmt::format("{:x}\r\n{}\r\n", n, piece) : piece;
    const auto progress = parser.feed(input);
    EXPECT_TRUE(progress);
    if (!progress) break;
    input.erase(0, progress->used);
    most = std::max(most, parser.body_held());
    left -= n;
  }
  return most;
}

// A body that may be sent must fit into the memory that bodies have together.
TEST(Parser, ABodyNearTheLimitTakesNoMoreThanTheLimit) {
  const Bytes limit{100'000};
  for (const std::size_t length : {70'000U, 99'999U, 100'000U}) {
    RequestParser whole{Bytes{4096}, limit};
    ASSERT_TRUE(
        whole.feed(fmt::format("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", length)));
    EXPECT_EQ(most_held(whole, length, Coding::kNone), Bytes{length});
    RequestParser chunked{Bytes{4096}, limit};
    ASSERT_TRUE(chunked.feed("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    EXPECT_LE(most_held(chunked, length, Coding::kChunked), limit);
  }
}

TEST(Parser, StopsBetweenHeaderAndBody) {
  RequestParser parser{Bytes{4096}, Bytes{100'000}};
  const std::string head = "PUT /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n";
  const std::string body(9000, 'x');
  const auto first = parser.feed(head + body);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->phase, RequestParser::Phase::kBody);
  EXPECT_EQ(first->used, head.size());
  EXPECT_EQ(parser.request().path, "/a");
  EXPECT_EQ(parser.body_held(), Bytes{std::string{}.capacity()});
  const auto second = parser.feed(body);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->phase, RequestParser::Phase::kComplete);
  EXPECT_EQ(parser.take().body, body);
}

}  // namespace
}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "http/test_server.h"
#include "http/test_socket.h"

namespace hearth::http {
namespace {

struct BadCase {
  const char* name;
  std::string request;
  int status;
};

class BadRequest : public testing::TestWithParam<BadCase> {};

TEST_P(BadRequest, IsAnsweredAndTheConnectionClosed) {
  ServerConfig config;
  config.max_header = Bytes{4096};
  config.max_body = Bytes{100};
  TestServer server{config};
  TestSocket client{server.port()};
  client.send(GetParam().request);
  const HttpResponse response = client.answer();
  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_TRUE(response.body.starts_with(R"({"error":{"message":")")) << response.body;
  EXPECT_TRUE(response.body.ends_with(R"(","type":"invalid_request_error"}})")) << response.body;
  EXPECT_EQ(response.header("Content-Type"), "application/json");
  EXPECT_EQ(response.header("Connection"), "close");
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(server.started.count(), 0);
}

std::string with_target(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

std::string with_headers(const std::string& headers) {
  return "POST /echo HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

std::string chunked(const std::string& body) {
  return with_headers("Transfer-Encoding: chunked\r\n") + body;
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, BadRequest,
    testing::Values(BadCase{"Garbage", "\x16\x03\x01\x02 hello there\r\n\r\n", 400},
                    BadCase{"NoTarget", "GET HTTP/1.1\r\nHost: x\r\n\r\n", 400},
                    BadCase{"OldestVersion", "GET /\r\n\r\n", 400},
                    BadCase{"Version2", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
                    BadCase{"Version3", "GET / HTTP/3.1\r\nHost: x\r\n\r\n", 505},
                    BadCase{"NoColon", with_headers("Nonsense\r\n"), 400},
                    BadCase{"SpaceBeforeColon", with_headers("A : b\r\n"), 400},
                    BadCase{"NulInValue", with_headers(std::string("A: b\0c\r\n", 8)), 400},
                    BadCase{"NulInName", with_headers(std::string("A\0: b\r\n", 7)), 400},
                    BadCase{"NulInTarget", with_target(std::string("/a\0", 3)), 400},
                    BadCase{"EmptyName", with_headers(": b\r\n"), 400},
                    BadCase{"TwoSpaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
                    BadCase{"BareLf", "GET / HTTP/1.1\nHost: x\n\n", 400},
                    BadCase{"BareLfInHeader", with_headers("A: b\nC: d\r\n"), 400},
                    BadCase{"BareLfAtTheEnd", "GET / HTTP/1.1\r\nHost: x\r\n\n", 400},
                    BadCase{"BareCr", with_headers("A: b\rC: d\r\n"), 400},
                    BadCase{"Folded", with_headers("A: b\r\n c\r\n"), 400},
                    BadCase{"FoldedByTab", with_headers("A: b\r\n\tc\r\n"), 400},
                    BadCase{"FoldedCoding", with_headers("Transfer-Encoding:\r\n chunked\r\n"),
                            400},
                    BadCase{"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
                    BadCase{"TwoHosts", with_headers("Host: y\r\n"), 400}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Target, BadRequest,
                         testing::Values(BadCase{"Parent", with_target("/a/../b"), 400},
                                         BadCase{"EscapedParent", with_target("/%2e%2e/b"), 400},
                                         BadCase{"Nul", with_target("/a%00"), 400},
                                         BadCase{"BadEscape", with_target("/a%2"), 400},
                                         BadCase{"Authority",
                                                 "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
                                         BadCase{"Relative", with_target("echo"), 400}),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Length, BadRequest,
    testing::Values(
        BadCase{"Words", with_headers("Content-Length: many\r\n"), 400},
        BadCase{"Negative", with_headers("Content-Length: -1\r\n"), 400},
        BadCase{"TooManyDigits", with_headers("Content-Length: 99999999999999999999999\r\n"), 400},
        BadCase{"Two", with_headers("Content-Length: 1\r\nContent-Length: 2\r\n"), 400},
        BadCase{"TwoEqual", with_headers("Content-Length: 1\r\nContent-Length: 1\r\n"), 400},
        BadCase{"List", with_headers("Content-Length: 1, 1\r\n"), 400},
        BadCase{"Plus", with_headers("Content-Length: +1\r\n"), 400},
        BadCase{"Hex", with_headers("Content-Length: 0x1\r\n"), 400},
        BadCase{"Empty", with_headers("Content-Length:\r\n"), 400},
        BadCase{"Apart", with_headers("Content-Length: 1 1\r\n"), 400},
        BadCase{"AndChunked", with_headers("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
                400},
        BadCase{"ChunkedAnd", with_headers("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"),
                400},
        BadCase{"Gzip", with_headers("Transfer-Encoding: gzip\r\n"), 501},
        BadCase{"GzipChunked", with_headers("Transfer-Encoding: gzip, chunked\r\n"), 501},
        BadCase{"ChunkedTwice",
                with_headers("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
        BadCase{"ChunkedGzip", with_headers("Transfer-Encoding: chunked, gzip\r\n"), 501},
        BadCase{"NotQuiteChunked", with_headers("Transfer-Encoding: xchunked\r\n"), 501},
        BadCase{"ChunkedOldVersion", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                400},
        BadCase{"BodyTooLong", with_headers("Content-Length: 101\r\n"), 413}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Chunks, BadRequest,
    testing::Values(BadCase{"NoHex", chunked("xyz\r\n"), 400},
                    BadCase{"NoLineEnd", chunked("1\r\nabc\r\n0\r\n\r\n"), 400},
                    BadCase{"HugeSize", chunked("ffffffffffffffffff\r\n"), 400},
                    BadCase{"Prefixed", chunked("0x1\r\na\r\n0\r\n\r\n"), 400},
                    BadCase{"BareLf", chunked("1\na\r\n0\r\n\r\n"), 400},
                    BadCase{"BareLfAfter", chunked("1\r\na\n0\r\n\r\n"), 400},
                    BadCase{"OneTooLong", chunked("65\r\n"), 413},
                    BadCase{"SumTooLong", chunked("40\r\n" + std::string(64, 'x') + "\r\n40\r\n"),
                            413},
                    BadCase{"EndlessExtension", chunked("1;" + std::string(6000, 'x')), 400},
                    BadCase{"EndlessTrailer", chunked("0\r\n" + std::string(6000, 'x')), 400}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    TooLong, BadRequest,
    testing::Values(
        BadCase{"Target", with_target("/" + std::string(5000, 'x')), 414},
        BadCase{"EndlessTarget", "GET /" + std::string(5000, 'x'), 414},
        BadCase{"OneHeader", with_headers("A: " + std::string(5000, 'x') + "\r\n"), 431},
        BadCase{"EndlessHeader", "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(5000, 'x'), 431}),
    [](const auto& test) { return test.param.name; });

struct GoodTargetCase {
  const char* name;
  const char* target;
  const char* echo;
};

class GoodTarget : public testing::TestWithParam<GoodTargetCase> {};

TEST_P(GoodTarget, ReachesTheHandlerInOneShape) {
  TestServer server;
  TestSocket client{server.port()};
  client.get(GetParam().target);
  EXPECT_EQ(client.answer().body, GetParam().echo);
}

INSTANTIATE_TEST_SUITE_P(
    Target, GoodTarget,
    testing::Values(GoodTargetCase{"Plain", "/echo", "GET /echo?\n"},
                    GoodTargetCase{"Escaped", "/%65cho?%65", "GET /echo?%65\n"},
                    GoodTargetCase{"Slashes", "//echo", "GET /echo?\n"},
                    GoodTargetCase{"Absolute", "http://host:80/echo?q", "GET /echo?q\n"},
                    GoodTargetCase{"UrlInQuery", "/echo?u=http://x/", "GET /echo?u=http://x/\n"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "http/test_server.h"
#include "http/test_socket.h"

namespace hearth::http {
namespace {

using std::chrono::milliseconds;

// Says what it was told, so that a test can see it.
HttpResponse transcript(int status, std::string_view /*message*/, const HttpRequest* head) {
  std::string text = std::to_string(status) + " ";
  text += head == nullptr ? "nothing" : head->method + " " + head->path;
  if (head != nullptr && head->header("a")) text += " a=" + std::string{*head->header("a")};
  return HttpResponse::text(200, std::move(text));
}

ServerConfig config_with_writer() {
  ServerConfig config;
  config.max_header = Bytes{4096};
  config.max_body = Bytes{100};
  config.header_timeout = config.body_timeout = milliseconds{50};
  config.error_writer = transcript;
  return config;
}

struct RefusalCase {
  const char* name;
  std::string request;
  const char* told;
};

class Refused : public testing::TestWithParam<RefusalCase> {};

TEST_P(Refused, IsWordedByTheWriter) {
  TestServer server{config_with_writer()};
  TestSocket client{server.port()};
  client.send(GetParam().request);
  const HttpResponse response = client.answer();
  EXPECT_EQ(response.body, GetParam().told);
  EXPECT_EQ(response.status, std::stoi(GetParam().told));
  EXPECT_EQ(response.header("Connection"), "close");
  EXPECT_TRUE(client.at_end());
}

std::string post(const std::string& headers) {
  return "POST /v1/x?q HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    Server, Refused,
    testing::Values(
        RefusalCase{"Garbage", "\x16\x03\x01\r\n\r\n", "400 nothing"},
        RefusalCase{"HalfARequestLine", "GET /v1", "408 nothing"},
        RefusalCase{"HalfAHeader", "GET /v1/x HTTP/1.1\r\nA: b\r\nC", "408 GET /v1/x a=b"},
        RefusalCase{"HalfABody", post("A: b\r\nContent-Length: 9\r\n") + "x", "408 POST /v1/x a=b"},
        RefusalCase{"BadField", post("A: b\r\nnonsense\r\n"), "400 POST /v1/x a=b"},
        RefusalCase{"TwoHosts", post("A: b\r\nHost: y\r\n"), "400 POST /v1/x a=b"},
        RefusalCase{"BadPath", "GET /v1/../x HTTP/1.1\r\nHost: x\r\n\r\n", "400 nothing"},
        RefusalCase{"LargeBody", post("A: b\r\nContent-Length: 101\r\n"), "413 POST /v1/x a=b"},
        RefusalCase{"LargeChunks", post("Transfer-Encoding: chunked\r\n") + "65\r\n",
                    "413 POST /v1/x"},
        RefusalCase{"BadChunk", post("Transfer-Encoding: chunked\r\n") + "x\r\n", "400 POST /v1/x"},
        RefusalCase{"EndlessTarget", "GET /" + std::string(5000, 'x'), "414 nothing"},
        RefusalCase{"EndlessHeader",
                    "GET /v1/x HTTP/1.1\r\nHost: x\r\nA: b\r\nB: " + std::string(5000, 'x'),
                    "431 GET /v1/x a=b"},
        RefusalCase{"Coding", post("Transfer-Encoding: gzip\r\n"), "501 POST /v1/x"},
        RefusalCase{"Version", "GET /v1/x HTTP/3.0\r\nA: b\r\n\r\n", "505 GET /v1/x a=b"},
        RefusalCase{"Throws", "GET /throw HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                    "500 GET /throw"}),
    [](const auto& test) { return test.param.name; });

TEST(Refusal, OfAHeadHasNoBody) {
  TestServer server{config_with_writer()};
  TestSocket client{server.port()};
  client.send("HEAD /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n");
  const std::string raw = client.read_all();
  EXPECT_TRUE(raw.starts_with("HTTP/1.1 413 ")) << raw;
  EXPECT_TRUE(raw.ends_with("\r\n\r\n")) << raw;
}

TEST(Refusal, OfOneConnectionTooManyWaitsForItsRequestLine) {
  ServerConfig config = config_with_writer();
  config.max_connections = 1;
  TestServer server{config};
  TestSocket first{server.port()};
  first.get("/wait");
  ASSERT_TRUE(server.started.reaches(1));
  TestSocket second{server.port()};
  second.send("GET /v1/x HT");
  second.send("TP/1.1\r\n");
  const HttpResponse response = second.answer();
  EXPECT_EQ(response.body, "503 GET /v1/x");
  EXPECT_EQ(response.header("Retry-After"), "1");
}

TEST(Refusal, OfOneConnectionTooManyComesAlsoToTheSilent) {
  ServerConfig config = config_with_writer();
  config.max_connections = 1;
  TestServer server{config};
  TestSocket first{server.port()};
  first.get("/wait");
  ASSERT_TRUE(server.started.reaches(1));
  TestSocket second{server.port()};
  EXPECT_EQ(second.answer().body, "503 nothing");
}

}  // namespace
}  // namespace hearth::http

// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

#include "base/log.h"
#include "http/test_server.h"
#include "http/test_socket.h"

namespace hearth::http {
namespace {

using std::chrono::milliseconds;

TEST(Server, AnswersWithLengthTypeAndDate) {
  TestServer server;
  TestSocket client{server.port()};
  client.send("POST /echo?a=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  const HttpResponse response = client.answer();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "POST /echo?a=1\nhello");
  EXPECT_EQ(response.header("content-length"), "20");
  EXPECT_EQ(response.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_TRUE(response.header("date").has_value());
  EXPECT_FALSE(response.header("connection").has_value());
}

TEST(Server, KeepsTheConnectionForFurtherRequests) {
  TestServer server;
  TestSocket client{server.port()};
  for (int i = 0; i < 20; ++i) {
    client.get("/echo?" + std::to_string(i));
    EXPECT_EQ(client.answer().body, "GET /echo?" + std::to_string(i) + "\n");
  }
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.gone.count(), 0);
}

TEST(Server, FirstByteIsTheRequestsOwn) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/echo");
  client.answer();
  const TimePoint between = std::chrono::steady_clock::now();
  client.get("/echo");
  client.answer();
  const TimePoint after = std::chrono::steady_clock::now();
  ASSERT_TRUE(server.ended.reaches(2));
  EXPECT_GE(server.first_byte, between);
  EXPECT_LE(server.first_byte, after);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  TestServer server;
  TestSocket client{server.port()};
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests +=
        "POST /echo?" + std::to_string(i) +
        " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n\r\n";
  }
  client.send(requests);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client.answer().body, "POST /echo?" + std::to_string(i) + "\nab");
  }
}

TEST(Server, RequestSentDuringAStreamIsAnsweredAfterIt) {
  TestServer server;
  TestSocket client{server.port()};
  client.send(
      "GET /stream?n=100 HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /big?bytes=3000000 HTTP/1.1\r\nHost: x\r\n\r\n");
  client.get("/echo");
  EXPECT_TRUE(client.answer().body.ends_with("piece 99\n"));
  EXPECT_EQ(client.answer().body.size(), 3000000u);
  EXPECT_EQ(client.answer().body, "GET /echo?\n");
  EXPECT_EQ(server.gone.count(), 0);
}

TEST(Server, ReadsAChunkedBodyThatArrivesInPieces) {
  TestServer server;
  TestSocket client{server.port()};
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;name=value\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: 1\r\n\r\n";
  for (const char c : request) client.send(std::string_view{&c, 1});
  EXPECT_EQ(client.answer().body, "POST /echo?\nhello world");
}

TEST(Server, InvitesABodyThatWaitsToBeInvited) {
  TestServer server;
  TestSocket client{server.port()};
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_EQ(client.answer().body, "POST /echo?\nok");
}

TEST(Server, RefusesATooLargeBodyBeforeItIsSent) {
  ServerConfig config;
  config.max_body = Bytes{1000};
  TestServer server{config};
  TestSocket client{server.port()};
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.answer().status, 413);
  EXPECT_TRUE(client.at_end());
}

TEST(Server, AnswerToATooLargeBodySurvivesTheBody) {
  ServerConfig config;
  config.max_body = Bytes{1000};
  TestServer server{config};
  TestSocket client{server.port()};
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  client.send(std::string(1000000, 'x'));
  EXPECT_EQ(client.answer().status, 413);
}

TEST(Server, HeadGetsTheHeadersOnly) {
  TestServer server;
  TestSocket client{server.port()};
  client.send("HEAD /big?bytes=77 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.answer(ResponseParser::Body::kNone).header("Content-Length"), "77");
  client.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.answer(ResponseParser::Body::kNone).header("Transfer-Encoding"), "chunked");
  client.get("/echo");
  EXPECT_EQ(client.answer().body, "GET /echo?\n");
}

TEST(Server, StatusWithoutBodyHasNoLength) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/empty");
  const HttpResponse response = client.answer();
  EXPECT_EQ(response.status, 204);
  EXPECT_FALSE(response.header("Content-Length").has_value());
  client.get("/echo");
  EXPECT_EQ(client.answer().status, 200);
}

TEST(Server, OldClientsGetPlainBodiesAndTheEndOfTheConnection) {
  TestServer server;
  TestSocket streaming{server.port()};
  streaming.send("GET /stream?n=2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string raw = streaming.read_all();
  EXPECT_EQ(raw.find("chunked"), std::string::npos);
  EXPECT_TRUE(raw.ends_with("\r\n\r\npiece 0\npiece 1\n"));
  TestSocket simple{server.port()};
  simple.send("GET /echo HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(simple.read_all().ends_with("\r\n\r\nGET /echo?\n"));
}

TEST(Server, ClosesWhenTheClientAsksForIt) {
  TestServer server;
  TestSocket client{server.port()};
  client.send("GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.answer().header("Connection"), "close");
  EXPECT_TRUE(client.at_end());
}

TEST(Server, FailedHandlersAreToldToTheClient) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/throw");
  EXPECT_EQ(client.answer().status, 500);
  client.get("/silent");
  EXPECT_EQ(client.answer().status, 500);
  client.get("/unfinished");
  EXPECT_EQ(client.answer().status, 0);
}

TEST(Server, OneConnectionTooManyIsToldSo) {
  ServerConfig config;
  config.max_connections = 2;
  TestServer server{config};
  TestSocket first{server.port()};
  TestSocket second{server.port()};
  first.get("/echo");
  second.get("/echo");
  first.answer();
  second.answer();
  TestSocket third{server.port()};
  third.get("/echo");
  EXPECT_EQ(third.answer().status, 503);
  EXPECT_TRUE(third.at_end());
  first.get("/echo");
  EXPECT_EQ(first.answer().status, 200);
}

TEST(Server, AddressInUseIsAConflict) {
  TestServer server;
  AsioEventLoop loop;
  ServerConfig config;
  config.port = server.port();
  const auto second = Server::listen(loop, config, nullptr);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), ErrorCode::kConflict);
  config.host = "no such host";
  const auto unnamed = Server::listen(loop, config, nullptr);
  ASSERT_FALSE(unnamed.has_value());
  EXPECT_EQ(unnamed.error().code(), ErrorCode::kInvalid);
}

struct SlowCase {
  const char* name;
  const char* sent;
  int status;  // 0: the connection is closed without an answer
};

class Slow : public testing::TestWithParam<SlowCase> {};

TEST_P(Slow, IsGivenUp) {
  ServerConfig config;
  config.header_timeout = milliseconds{50};
  config.body_timeout = milliseconds{50};
  config.idle_timeout = milliseconds{50};
  TestServer server{config};
  TestSocket client{server.port()};
  client.send(GetParam().sent);
  const HttpResponse response = client.answer();
  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_TRUE(client.at_end());
}

INSTANTIATE_TEST_SUITE_P(
    Server, Slow,
    testing::Values(SlowCase{"Silent", "", 0}, SlowCase{"OnlyEmptyLines", "\r\n\r\n", 0},
                    SlowCase{"HalfARequestLine", "GET /ec", 408},
                    SlowCase{"HalfAHeader", "GET / HTTP/1.1\r\nHost: x\r\n", 408},
                    SlowCase{"HalfABody", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx",
                             408}),
    [](const auto& test) { return test.param.name; });

TEST(Server, IdleConnectionIsClosed) {
  ServerConfig config;
  config.idle_timeout = milliseconds{50};
  TestServer server{config};
  TestSocket client{server.port()};
  client.get("/echo");
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_TRUE(client.at_end());
  client.close();
  EXPECT_TRUE(server.empties());
}

TEST(Server, AcceptingSurvivesALackOfDescriptors) {
  TestServer server;
  TestSocket waiting{server.port()};
  waiting.get("/echo");
  EXPECT_EQ(waiting.answer().status, 200);

  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  // Takes every descriptor below a low limit, but for the one of the next client.
  rlimit low = before;
  low.rlim_cur = 200;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<Fd> hoard;
  while (true) {
    Fd copy{::dup(STDERR_FILENO)};
    if (!copy) break;
    hoard.push_back(std::move(copy));
  }
  hoard.pop_back();
  TestSocket client{server.port()};
  client.get("/echo");
  while (log::counts()["http.accept_paused"] == 0) std::this_thread::yield();
  hoard.clear();
  EXPECT_EQ(client.answer().status, 200);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace hearth::http

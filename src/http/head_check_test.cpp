// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "http/test_server.h"
#include "http/test_socket.h"

namespace hearth::http {
namespace {

using namespace hearth::literals;

// A server whose check wants no body for /secret, and fails for /broken.
class HeadChecks : public testing::Test {
 protected:
  ServerConfig config() {
    ServerConfig config;
    config.max_body = 8_MiB;
    config.max_bodies = 8_MiB;
    config.head_check = [this](const HttpRequest& head) { return check(head); };
    config.error_writer = [](int status, std::string_view message, const HttpRequest* head) {
      return HttpResponse::text(status, head->path + ": " + std::string{message});
    };
    return config;
  }

  std::optional<HttpResponse> check(const HttpRequest& head) {
    ++checks;
    EXPECT_TRUE(head.body.empty());
    EXPECT_TRUE(head.peer.starts_with("127.0.0.1:")) << head.peer;
    EXPECT_EQ(head.header("Host"), "x");
    if (head.path == "/broken") throw std::runtime_error{"thrown on purpose"};
    if (head.path != "/secret") return std::nullopt;
    return HttpResponse::text(401, "no, " + head.method);
  }

  std::atomic<int> checks = 0;
  TestServer server{config()};
};

std::string post(std::string_view path, std::string_view headers) {
  return "POST " + std::string{path} + " HTTP/1.1\r\nHost: x\r\n" + std::string{headers} + "\r\n";
}

TEST_F(HeadChecks, AnswerWithoutAWordOfTheBody) {
  for (const char* headers : {"Content-Length: 5000000\r\n", "Transfer-Encoding: chunked\r\n",
                              "Content-Length: 5000000\r\nExpect: 100-continue\r\n"}) {
    TestSocket client{server.port()};
    client.send(post("/secret", headers));
    const std::string raw = client.read_until("no, POST");
    EXPECT_TRUE(raw.starts_with("HTTP/1.1 401 ")) << raw;
    EXPECT_NE(raw.find("Connection: close\r\n"), std::string::npos) << raw;
    EXPECT_TRUE(client.at_end());
  }
  EXPECT_EQ(checks, 3);
  EXPECT_EQ(server.started.count(), 0);
}

TEST_F(HeadChecks, AnswerAlsoWhereTheBodyHasComeAlong) {
  TestSocket client{server.port()};
  client.send(post("/secret", "Content-Length: 2\r\n") + "hi" + post("/echo", ""));
  EXPECT_EQ(client.answer().status, 401);
  EXPECT_TRUE(client.at_end()) << "nothing behind it is read as a request";
  EXPECT_EQ(server.started.count(), 0);
}

TEST_F(HeadChecks, LetTheRestPass) {
  TestSocket client{server.port()};
  client.send(post("/echo", "Content-Length: 2\r\n") + "hi");
  EXPECT_EQ(client.answer().body, "POST /echo?\nhi");
  client.send(post("/echo", "Content-Length: 2\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  EXPECT_EQ(client.answer().body, "POST /echo?\nhi");
  client.send(post("/echo", "Transfer-Encoding: chunked\r\n") + "2\r\nhi\r\n0\r\n\r\n");
  EXPECT_EQ(client.answer().body, "POST /echo?\nhi");
  EXPECT_EQ(checks, 3);
}

TEST_F(HeadChecks, AreNotAskedWithoutABody) {
  TestSocket client{server.port()};
  client.send(post("/echo", "Content-Length: 0\r\n"));
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_EQ(checks, 0);
}

TEST_F(HeadChecks, ThatFailAreAnError) {
  TestSocket client{server.port()};
  client.send(post("/broken", "Content-Length: 2\r\n"));
  const HttpResponse response = client.answer();
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "/broken: The server failed to answer this request.");
  EXPECT_TRUE(client.at_end());
}

TEST_F(HeadChecks, LeaveLimitsToTheServer) {
  TestSocket client{server.port()};
  client.send(post("/secret", "Content-Length: 9000000\r\n"));
  EXPECT_EQ(client.answer().body, "/secret: The request's body is larger than 8 MiB.");
}

}  // namespace
}  // namespace hearth::http

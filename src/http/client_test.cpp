// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "http/address.h"
#include "http/test_server.h"

namespace hearth::http {
namespace {

using std::chrono::milliseconds;

struct UrlCase {
  const char* name;
  const char* url;
  const char* host;  // nullptr: refused
  int port;
};

class ClientUrl : public testing::TestWithParam<UrlCase> {};

TEST_P(ClientUrl, IsTakenApart) {
  const Result<Client> client = Client::to(GetParam().url, 11435);
  ASSERT_EQ(client.has_value(), GetParam().host != nullptr);
  if (!client) {
    EXPECT_EQ(client.error().code(), ErrorCode::kInvalid);
    return;
  }
  EXPECT_EQ(client->host(), GetParam().host);
  EXPECT_EQ(client->port(), GetParam().port);
}

INSTANTIATE_TEST_SUITE_P(
    Client, ClientUrl,
    testing::Values(
        UrlCase{"Full", "http://127.0.0.1:80", "127.0.0.1", 80},
        UrlCase{"Slash", "http://box/", "box", 11435}, UrlCase{"HostAndPort", "box:81", "box", 81},
        UrlCase{"Host", "box", "box", 11435}, UrlCase{"V6", "[::1]:82", "::1", 82},
        UrlCase{"V6NoPort", "http://[::1]", "::1", 11435}, UrlCase{"BareV6", "::1", "::1", 11435},
        UrlCase{"Empty", "", nullptr, 0}, UrlCase{"NoHost", ":80", nullptr, 0},
        UrlCase{"BadPort", "box:eighty", nullptr, 0},
        UrlCase{"PortTooLarge", "box:65536", nullptr, 0}, UrlCase{"PortZero", "box:0", nullptr, 0},
        UrlCase{"Https", "https://box", nullptr, 0}, UrlCase{"Path", "box/path", nullptr, 0},
        UrlCase{"OpenBracket", "[::1", nullptr, 0}),
    [](const auto& test) { return test.param.name; });

Client client_of(std::uint16_t port) { return *Client::to("127.0.0.1:" + std::to_string(port), 1); }

// A socket that takes connections into its backlog and never answers.
class SilentServer {
 public:
  SilentServer() : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    address_ = resolve("127.0.0.1", 0)->front();
    EXPECT_EQ(::bind(fd_.get(), address_.get(), address_.length), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    ::getsockname(fd_.get(), address_.get(), &address_.length);
  }
  std::uint16_t port() const { return address_.port(); }

 private:
  Fd fd_;
  Address address_;
};

TEST(Client, GetsAWholeAnswer) {
  TestServer server;
  Client::Call call;
  call.method = "POST";
  call.target = "/echo?x=1";
  call.body = std::string(200'000, 'y');
  const Result<HttpResponse> response = client_of(server.port()).call(call);
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "POST /echo?x=1\n" + call.body);
}

TEST(Client, HandsAStreamOverPieceByPiece) {
  TestServer server;
  Client::Call call;
  call.target = "/stream?n=100";
  std::vector<std::string> lines;
  LineReader reader{[&lines](std::string_view line) { lines.emplace_back(line); }};
  const auto response = client_of(server.port()).stream(call, [&reader](std::string_view bytes) {
    reader.feed(bytes);
    return true;
  });
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->body, "");
  ASSERT_EQ(lines.size(), 100u);
  EXPECT_EQ(lines.back(), "piece 99");
}

TEST(Client, CanHangUp) {
  TestServer server;
  Client::Call call;
  call.target = "/hang";
  std::string seen;
  const auto response = client_of(server.port()).stream(call, [&seen](std::string_view bytes) {
    seen += bytes;
    return false;
  });
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(seen, "hello\n");
  EXPECT_TRUE(server.gone.reaches(1));
}

TEST(Client, CollectsAnErrorAnswerOfAStream) {
  TestServer server;
  Client::Call call;
  call.target = "/throw";
  const auto response =
      client_of(server.port()).stream(call, [](std::string_view) { return false; });
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 500);
  EXPECT_NE(response->body.find("error"), std::string::npos);
}

TEST(Client, NamesTheAddressThatRefuses) {
  std::uint16_t port = 0;
  {
    const SilentServer closed_soon;
    port = closed_soon.port();
  }
  const auto response = client_of(port).call({});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(response.error().message(),
            "connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");
}

TEST(Client, GivesUpOnASilentServer) {
  const SilentServer silent;
  Client::Call call;
  call.read_timeout = milliseconds{50};
  const auto response = client_of(silent.port()).call(call);
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().message(),
            "read from 127.0.0.1:" + std::to_string(silent.port()) + ": nothing came for 50 ms");
}

TEST(Client, ReportsAnAnswerThatIsCutOff) {
  TestServer server;
  Client::Call call;
  call.target = "/unfinished";
  const auto response = client_of(server.port()).call(call);
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace hearth::http

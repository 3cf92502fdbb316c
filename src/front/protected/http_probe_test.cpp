// SPDX-License-Identifier: Apache-2.0
#include "front/protected/http_probe.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <thread>

#include "base/event_loop_asio.h"
#include "base/fd.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

struct AddressCase {
  const char* url;
  const char* host;  // null: refused
  const char* port;
  const char* target;
};
class ProbeAddresses : public testing::TestWithParam<AddressCase> {};
TEST_P(ProbeAddresses, AreRead) {
  const auto address = parse_probe_address(GetParam().url);
  ASSERT_EQ(address.has_value(), GetParam().host != nullptr) << GetParam().url;
  if (!address) {
    EXPECT_EQ(address.error().code(), ErrorCode::kInvalid);
    return;
  }
  EXPECT_EQ(address->host, GetParam().host);
  EXPECT_EQ(address->port, GetParam().port);
  EXPECT_EQ(address->target, GetParam().target);
}
INSTANTIATE_TEST_SUITE_P(
    Forms, ProbeAddresses,
    testing::Values(
        AddressCase{"http://nas", "nas", "80", "/"},
        AddressCase{"HTTP://nas:8080/", "nas", "8080", "/"},
        AddressCase{"http://nas:8123/api?x=1#part", "nas", "8123", "/api?x=1"},
        AddressCase{"http://nas?x", "nas", "80", "/?x"},
        AddressCase{"http://[::1]:80/a", "::1", "80", "/a"},
        AddressCase{"http://[::1]", "::1", "80", "/"}, AddressCase{"https://nas", nullptr, "", ""},
        AddressCase{"nas", nullptr, "", ""}, AddressCase{"", nullptr, "", ""},
        AddressCase{"http://", nullptr, "", ""}, AddressCase{"http://:80", nullptr, "", ""},
        AddressCase{"http://a:b", nullptr, "", ""}, AddressCase{"http://a:", nullptr, "", ""},
        AddressCase{"http://a:70000", nullptr, "", ""},
        AddressCase{"http://me:secret@nas", nullptr, "", ""},
        AddressCase{"http://[::1", nullptr, "", ""},
        AddressCase{"http://nas/\r\nX: y", nullptr, "", ""},
        AddressCase{"http://nas/a b", nullptr, "", ""}));

// Takes one connection and plays one answer.
class OneAnswer {
 public:
  enum class Then { kHangUp, kStay };
  OneAnswer(std::string answer, Then then) {
    listener_ = Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    socklen_t size = sizeof any;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(any.sin_port);
    thread_ = std::thread{[this, answer = std::move(answer), then] { serve(answer, then); }};
  }
  ~OneAnswer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/health", port_); }

 private:
  void serve(const std::string& answer, Then then) {
    const Fd client{::accept(listener_.get(), nullptr, nullptr)};
    if (!client) return;
    char piece[4096];
    std::string request;
    while (request.find("\r\n\r\n") == request.npos) {
      const ssize_t got = ::recv(client.get(), piece, sizeof piece, 0);
      if (got <= 0) return;
      request.append(piece, static_cast<std::size_t>(got));
    }
    EXPECT_TRUE(request.starts_with("GET /health HTTP/1.1\r\nHost: 127.0.0.1:")) << request;
    (void)::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    if (then == Then::kHangUp) return;
    while (::recv(client.get(), piece, sizeof piece, 0) > 0) {
    }
  }

  Fd listener_;
  int port_ = 0;
  std::thread thread_;
};

Task<void> ask_once(EventLoop& loop, Probe& probe, std::optional<Result<Probe::Answer>>& out) {
  out.emplace(co_await probe.ask());
  static_cast<AsioEventLoop&>(loop).stop();
}

Result<Probe::Answer> ask(const std::string& url, Duration patience) {
  AsioEventLoop loop;
  auto address = parse_probe_address(url);
  HttpProbe probe{loop, *address, patience};
  std::optional<Result<Probe::Answer>> out;
  loop.spawn(ask_once(loop, probe, out));
  loop.run();
  return *out;
}

struct AnswerCase {
  const char* name;
  std::string answer;
  const char* error;  // null: an answer
};
class Answers : public testing::TestWithParam<AnswerCase> {};
TEST_P(Answers, AreJudgedByTheirHead) {
  const OneAnswer server{GetParam().answer, OneAnswer::Then::kHangUp};
  const auto answer = ask(server.url(), 10s);
  ASSERT_EQ(answer.has_value(), GetParam().error == nullptr);
  if (answer) {
    EXPECT_TRUE(answer->in_time);
    EXPECT_GT(answer->took, 0ms);
  } else {
    EXPECT_NE(answer.error().message().find(GetParam().error), std::string::npos)
        << answer.error().message();
  }
}
INSTANTIATE_TEST_SUITE_P(
    Cases, Answers,
    testing::Values(
        AnswerCase{"Good", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", nullptr},
        AnswerCase{"NotFound", "HTTP/1.0 404 Not Found\r\n\r\n", nullptr},
        AnswerCase{"Redirect", "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\n\r\n",
                   nullptr},
        AnswerCase{"Failure", "HTTP/1.1 503 Busy\r\n\r\n", "answers 503"},
        AnswerCase{"Rubbish", "SSH-2.0-OpenSSH\r\n\r\n", "not answer in HTTP"},
        AnswerCase{"NoStatus", "HTTP/1.1 \r\n\r\n", "not answer in HTTP"},
        AnswerCase{"Nothing", "", "hangs up"},
        AnswerCase{"HalfAHead", "HTTP/1.1 200 OK\r\nX: ", "hangs up"},
        AnswerCase{"Endless", "HTTP/1.1 200 OK\r\nX: " + std::string(20000, 'x'), "endless"}),
    [](const auto& test) { return test.param.name; });

TEST(HttpProbe, ASilentServiceIsLate) {
  const OneAnswer server{"HTTP/1.1 200 OK\r\n", OneAnswer::Then::kStay};
  const auto answer = ask(server.url(), 30ms);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_FALSE(answer->in_time);
  EXPECT_EQ(answer->took, 30ms);
}

TEST(HttpProbe, SaysThatNobodyListens) {
  std::string url;
  {
    const OneAnswer server{"", OneAnswer::Then::kHangUp};
    url = server.url();
  }
  const auto answer = ask(url, 10s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().message().find("refused"), std::string::npos);
}

TEST(HttpProbe, EndsWhenCancelled) {
  const OneAnswer server{"", OneAnswer::Then::kStay};
  AsioEventLoop loop;
  HttpProbe probe{loop, *parse_probe_address(server.url()), 1h};
  std::optional<Result<Probe::Answer>> out;
  loop.spawn(ask_once(loop, probe, out));
  loop.post([&probe] { probe.cancel(); });
  loop.run();
  ASSERT_FALSE(*out);
  EXPECT_EQ(out->error().code(), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <vector>

#include "http/admission.h"
#include "http/body_budget.h"
#include "http/body_stream.h"
#include "http/session.h"
#include "http/test_server.h"
#include "http/test_socket.h"

namespace hearth::http {
namespace {

using namespace hearth::literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

// ---- Admission ----

class AdmissionTest : public testing::Test {
 protected:
  struct Guest {
    Fd peer;  // the client's end
    std::shared_ptr<Connection> connection;
    std::unique_ptr<Admission::Place> place;
  };

  Guest arrive(Admission& admission, const char* host, TimePoint now = {}) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    Guest guest;
    guest.peer = Fd{ends[0]};
    guest.connection =
        std::make_shared<Connection>(loop_, Fd{ends[1]}, host, std::span<char>{scratch_});
    guest.place = admission.admit(*guest.connection, resolve(host, 1)->front(), now);
    return guest;
  }

  static TimePoint at(int second) { return TimePoint{} + seconds{second}; }

  AsioEventLoop loop_;
  std::vector<char> scratch_ = std::vector<char>(1024);
};

TEST_F(AdmissionTest, TheLongestIdleGivesWay) {
  Admission admission{{3, 0, seconds{1}}};
  Guest busy = arrive(admission, "192.0.2.1");
  Guest later = arrive(admission, "192.0.2.2");
  Guest longest = arrive(admission, "192.0.2.3");
  later.place->become_idle(at(2));
  longest.place->become_idle(at(1));
  later.place->become_busy();
  later.place->become_idle(at(3));
  EXPECT_TRUE(arrive(admission, "192.0.2.4", at(10)).place);
  EXPECT_TRUE(longest.connection->gone());
  EXPECT_FALSE(later.connection->gone());
  EXPECT_FALSE(busy.connection->gone());
  EXPECT_EQ(admission.count(), 2);  // the newcomer is gone again
}

TEST_F(AdmissionTest, NobodyGivesWay) {
  Admission admission{{2, 0, seconds{1}}};
  Guest busy = arrive(admission, "192.0.2.1");
  Guest idle = arrive(admission, "192.0.2.2");
  EXPECT_FALSE(arrive(admission, "192.0.2.3", at(100)).place) << "both busy";
  idle.place->become_idle(at(100));
  EXPECT_FALSE(arrive(admission, "192.0.2.3", at(100)).place) << "idle for too short";
  ASSERT_EQ(::send(idle.peer.get(), "G", 1, 0), 1);
  EXPECT_FALSE(arrive(admission, "192.0.2.3", at(200)).place) << "has just sent something";
  EXPECT_EQ(admission.count(), 2);
}

TEST_F(AdmissionTest, AddressesHaveALimitOfTheirOwn) {
  Admission admission{{100, 2, seconds{1}}};
  Guest first = arrive(admission, "192.0.2.1");
  Guest other = arrive(admission, "192.0.2.2");
  other.place->become_idle(at(1));
  Guest second = arrive(admission, "192.0.2.1");
  EXPECT_FALSE(arrive(admission, "192.0.2.1", at(10)).place);
  EXPECT_FALSE(arrive(admission, "::ffff:192.0.2.1", at(10)).place);
  EXPECT_TRUE(arrive(admission, "192.0.2.2", at(10)).place);
  first.place->become_idle(at(2));
  Guest third = arrive(admission, "192.0.2.1", at(10));
  EXPECT_TRUE(third.place);
  EXPECT_TRUE(first.connection->gone());
  EXPECT_FALSE(other.connection->gone()) << "another address pays for nothing";
  second.place.reset();
  EXPECT_TRUE(arrive(admission, "192.0.2.1", at(10)).place);
}

TEST_F(AdmissionTest, OneNetworkOfIpv6IsOneAddress) {
  Admission admission{{100, 2, seconds{1}}};
  const Guest first = arrive(admission, "2001:db8:0:1::1");
  const Guest second = arrive(admission, "2001:db8:0:1:ffff::2");
  EXPECT_FALSE(arrive(admission, "2001:db8:0:1:1:2:3:4", at(10)).place);
  EXPECT_TRUE(arrive(admission, "2001:db8:0:2::1", at(10)).place);
  EXPECT_TRUE(arrive(admission, "192.0.2.1", at(10)).place);
}

TEST_F(AdmissionTest, LoopbackIsNotCounted) {
  Admission admission{{100, 1, seconds{1}}};
  std::vector<Guest> guests;
  for (const char* host :
       {"127.0.0.1", "127.0.0.1", "127.1.2.3", "::1", "::1", "::ffff:127.0.0.1"}) {
    guests.push_back(arrive(admission, host));
    EXPECT_TRUE(guests.back().place) << host;
  }
}

TEST(Limits, AnIdleConnectionGivesWayToANewOne) {
  ServerConfig config;
  config.max_connections = 2;
  config.yield_after = milliseconds{0};
  TestServer server{config};
  TestSocket kept{server.port()};
  kept.get("/echo");
  EXPECT_EQ(kept.answer().status, 200);
  TestSocket working{server.port()};
  working.get("/wait");
  ASSERT_TRUE(server.started.reaches(2));
  for (int n = 0; n < 20; ++n) {
    TestSocket next{server.port()};
    next.get("/echo");
    EXPECT_EQ(next.answer().status, 200);
    EXPECT_TRUE(n > 0 || kept.at_end());
  }
  EXPECT_EQ(server.gone.count(), 0);
}

// ---- Bodies ----

TEST(BodyBudget, BoundsTheSumWithoutTheFirstPieces) {
  BodyBudget budget{1_MiB};
  std::optional<BodyBudget::Share> first{std::in_place, budget};
  BodyBudget::Share second{budget};
  EXPECT_TRUE(first->grow_to(512_KiB + 64_KiB));
  EXPECT_TRUE(first->grow_to(1_KiB));
  EXPECT_EQ(budget.taken(), 512_KiB);
  EXPECT_FALSE(second.grow_to(512_KiB + 65_KiB));
  EXPECT_TRUE(second.grow_to(512_KiB + 64_KiB));
  EXPECT_FALSE(first->grow_to(600_KiB));
  BodyBudget::Share small{budget};
  EXPECT_TRUE(small.grow_to(64_KiB));
  EXPECT_FALSE(small.grow_to(65_KiB));
  first.reset();
  EXPECT_EQ(budget.taken(), 512_KiB);
  EXPECT_TRUE(small.grow_to(65_KiB));
}

std::string put_of(std::size_t length) {
  return "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

TEST(Limits, BodiesTogetherAreBounded) {
  ServerConfig config;
  config.max_body = 1_MiB;
  config.max_bodies = 1_MiB;
  TestServer server{config};
  TestSocket holder{server.port()};
  // Waits with its body in memory.
  holder.send("PUT /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" +
              std::string(1000000, 'x'));
  ASSERT_TRUE(server.started.reaches(1));
  TestSocket large{server.port()};
  large.send(put_of(400000));
  large.send(std::string(400000, 'x'));
  const HttpResponse response = large.answer();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.header("Retry-After"), "1");
  TestSocket small{server.port()};
  small.send(put_of(50000) + std::string(50000, 'x'));
  EXPECT_EQ(small.answer().status, 200);
  holder.close();
  ASSERT_TRUE(server.ended.reaches(2));
  TestSocket again{server.port()};
  again.send(put_of(400000) + std::string(400000, 'x'));
  EXPECT_EQ(again.answer().status, 200);
}

// ---- Slow clients ----

TEST(BodyDeadline, GrowsWithWhatHasComeAndNeverByMoreThanOnePause) {
  ServerConfig config;
  config.body_timeout = seconds{30};
  config.min_body_rate = 10_KiB;
  const TimePoint begun{};
  const auto by = [&](int now_s, Bytes received) {
    return body_deadline(config, begun, begun + seconds{now_s}, received) - begun;
  };
  EXPECT_EQ(by(0, Bytes{}), seconds{30});
  EXPECT_EQ(by(20, Bytes{}), seconds{30});
  EXPECT_EQ(by(20, 100_KiB), seconds{40});
  EXPECT_EQ(by(20, 10_MiB), seconds{50}) << "no credit for a long silence";
  EXPECT_EQ(by(100, 1000_KiB), seconds{130});
  EXPECT_EQ(by(2000, 10_MiB), seconds{1054});
  config.min_body_rate = Bytes{};
  EXPECT_EQ(by(20, 1_MiB), seconds{50});
}

ServerConfig impatient() {
  ServerConfig config;
  config.max_header = 16_MiB;
  config.header_timeout = config.body_timeout = milliseconds{50};
  config.min_body_rate = 1_GiB;
  return config;
}

// Byte by byte, until there is an answer.
HttpResponse dribble(TestSocket& client, const std::string& start) {
  client.send(start);
  while (!client.readable()) client.send("x");
  return client.answer();
}

TEST(Dribbling, OfARequestLineIsGivenUp) {
  TestServer server{impatient()};
  TestSocket client{server.port()};
  EXPECT_EQ(dribble(client, "GET /").status, 408);
}

TEST(Dribbling, OfAHeaderIsGivenUp) {
  TestServer server{impatient()};
  TestSocket client{server.port()};
  EXPECT_EQ(dribble(client, "GET / HTTP/1.1\r\nHost: x\r\nA: ").status, 408);
}

TEST(Dribbling, OfABodyIsGivenUp) {
  TestServer server{impatient()};
  TestSocket client{server.port()};
  EXPECT_EQ(dribble(client, put_of(50 << 20)).status, 408);
}

TEST(Dribbling, OfChunksIsGivenUp) {
  TestServer server{impatient()};
  TestSocket client{server.port()};
  client.send("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  while (!client.readable()) client.send("1\r\nx\r\n");
  EXPECT_EQ(client.answer().status, 408);
}

TEST(Dribbling, ABodyThatKeepsItsRateOutlivesTheTimeout) {
  ServerConfig config = impatient();
  config.body_timeout = milliseconds{200};
  config.min_body_rate = 1_KiB;
  TestServer server{config};
  TestSocket client{server.port()};
  client.send("PUT /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const auto end = std::chrono::steady_clock::now() + milliseconds{500};
  while (std::chrono::steady_clock::now() < end) client.send("1\r\nx\r\n");
  client.send("0\r\n\r\n");
  EXPECT_EQ(client.answer().status, 200);
}

}  // namespace
}  // namespace hearth::http

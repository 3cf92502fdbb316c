// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "http/test_server.h"
#include "http/test_socket.h"

namespace hearth::http {
namespace {

using std::chrono::milliseconds;

TEST(Stream, PiecesArriveInOrder) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/stream?n=1000");
  std::string expected;
  for (int i = 0; i < 1000; ++i) expected += "piece " + std::to_string(i) + "\n";
  EXPECT_EQ(client.answer().body, expected);
  client.get("/echo");
  EXPECT_EQ(client.answer().status, 200);
}

TEST(Stream, EmptyStreamEndsProperly) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/stream?n=0");
  const HttpResponse response = client.answer();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
}

TEST(Stream, ManyAtOnce) {
  TestServer server;
  std::vector<std::unique_ptr<TestSocket>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<TestSocket>(server.port()));
    clients.back()->get("/hang");
  }
  for (auto& client : clients) EXPECT_TRUE(client->read_until("hello\n").ends_with("hello\n"));
  TestSocket other{server.port()};
  other.get("/echo");
  EXPECT_EQ(other.answer().status, 200);
  clients.clear();
  EXPECT_TRUE(server.gone.reaches(100));
}

enum class Leave { kClose, kReset, kHalfClose };

struct LeaveCase {
  const char* name;
  const char* target;
  Leave how;
};

class Leaving : public testing::TestWithParam<LeaveCase> {
 protected:
  static void leave(TestSocket& client) {
    if (GetParam().how == Leave::kClose) client.close();
    if (GetParam().how == Leave::kReset) client.reset();
    if (GetParam().how == Leave::kHalfClose) client.half_close();
  }
};

TEST_P(Leaving, IsNoticedAtOnce) {
  TestServer server;
  TestSocket client{server.port()};
  client.get(GetParam().target);
  ASSERT_TRUE(server.started.reaches(1));
  EXPECT_EQ(server.gone.count(), 0);
  const TimePoint left = std::chrono::steady_clock::now();
  leave(client);
  ASSERT_TRUE(server.gone.reaches(1));
  EXPECT_LT(server.gone_at - left, milliseconds{50});
  EXPECT_TRUE(server.ended.reaches(1));
  EXPECT_TRUE(server.empties());
  EXPECT_EQ(server.gone.count(), 1);
}

TEST_P(Leaving, IsNoticedBehindAPipelinedRequest) {
  TestServer server;
  TestSocket client{server.port()};
  client.get(GetParam().target);
  ASSERT_TRUE(server.started.reaches(1));
  client.get("/echo");
  leave(client);
  EXPECT_TRUE(server.gone.reaches(1));
  EXPECT_TRUE(server.empties());
  EXPECT_EQ(server.started.count(), 1);
}

INSTANTIATE_TEST_SUITE_P(Stream, Leaving,
                         testing::Values(LeaveCase{"Close", "/hang", Leave::kClose},
                                         LeaveCase{"Reset", "/hang", Leave::kReset},
                                         LeaveCase{"HalfClose", "/hang", Leave::kHalfClose},
                                         LeaveCase{"CloseBeforeAnswer", "/wait", Leave::kClose},
                                         LeaveCase{"HalfBeforeAnswer", "/wait", Leave::kHalfClose}),
                         [](const auto& test) { return test.param.name; });

TEST(Stream, ClientThatLeavesWithABlockedWriteIsNoticed) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/flood");
  ASSERT_TRUE(server.wrote.reaches(1));
  client.half_close();
  EXPECT_TRUE(server.gone.reaches(1));
  EXPECT_TRUE(server.ended.reaches(1));
}

TEST(Stream, ClientThatReadsNothingIsCut) {
  ServerConfig config;
  config.write_timeout = milliseconds{100};
  TestServer server{config};
  TestSocket client{server.port(), 4096};
  client.get("/flood");
  EXPECT_TRUE(server.gone.reaches(1));
  EXPECT_TRUE(server.ended.reaches(1));
  EXPECT_TRUE(server.empties());
}

TEST(Stream, HeadersGoOutBeforeTheFirstPiece) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/mute");
  EXPECT_NE(client.read_until("\r\n\r\n").find("200 OK"), std::string::npos);
}

TEST(Stop, EndsIdleConnectionsAtOnce) {
  TestServer server;
  TestSocket used{server.port()};
  used.get("/echo");
  EXPECT_EQ(used.answer().status, 200);
  TestSocket fresh{server.port()};
  const auto stopped = server.stop(std::chrono::hours{1});
  EXPECT_EQ(stopped.wait_for(std::chrono::seconds{10}), std::future_status::ready);
  EXPECT_TRUE(used.at_end());
}

TEST(Stop, LetsAStreamInFlightEnd) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/hang");
  client.read_until("hello\n");
  const auto stopped = server.stop(std::chrono::hours{1});
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.gone.count(), 0);
  client.close();
  EXPECT_EQ(stopped.wait_for(std::chrono::seconds{10}), std::future_status::ready);
}

TEST(Stop, CutsWhatIsLeftAtTheDeadline) {
  TestServer server;
  TestSocket client{server.port()};
  client.get("/hang");
  client.read_until("hello\n\r\n");
  const auto stopped = server.stop(milliseconds{50});
  EXPECT_EQ(stopped.wait_for(std::chrono::seconds{10}), std::future_status::ready);
  EXPECT_EQ(server.gone.count(), 1);
  EXPECT_EQ(server.ended.count(), 1);
  EXPECT_EQ(client.read_all(), "");
}

long resident_kib() {
  std::ifstream statm{"/proc/self/statm"};
  long total = 0;
  long resident = 0;
  statm >> total >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

TEST(Stream, IdleStreamsCostLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have memory of their own";
#endif
  constexpr int kStreams = 1000;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 2 * kStreams + 100) GTEST_SKIP() << "too few descriptors";
  TestServer server;
  std::vector<std::unique_ptr<TestSocket>> clients;
  const long before = resident_kib();
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<TestSocket>(server.port()));
    clients.back()->get("/hang");
  }
  for (auto& client : clients) client->read_until("hello\n");
  const long grown = resident_kib() - before;
  RecordProperty("kib", static_cast<int>(grown));
  EXPECT_LT(grown, 16 * kStreams);
  const TimePoint asked = std::chrono::steady_clock::now();
  TestSocket other{server.port()};
  other.get("/echo");
  EXPECT_EQ(other.answer().status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, milliseconds{50});
}

}  // namespace
}  // namespace hearth::http

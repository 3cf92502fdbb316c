// SPDX-License-Identifier: Apache-2.0
#include "http/body_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "http/test_server.h"
#include "http/test_socket.h"

namespace hearth::http {
namespace {

using namespace hearth::literals;
using std::chrono::milliseconds;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kMemoryIsPlain = false;
#else
constexpr bool kMemoryIsPlain = true;
#endif

// Whole bodies are bounded; those of /upload are streamed.
ServerConfig config_for_uploads() {
  ServerConfig config;
  config.max_body = 1_MiB;
  config.max_bodies = 1_MiB;
  config.body_choice = [](const HttpRequest& head) {
    return head.path == "/upload" ? BodyDelivery::kStreamed : BodyDelivery::kWhole;
  };
  return config;
}

std::string head_of(std::string_view target, std::string_view headers) {
  return "POST " + std::string{target} + " HTTP/1.1\r\nHost: x\r\n" + std::string{headers} + "\r\n";
}

std::size_t resident_bytes() {
  std::size_t whole = 0;
  std::size_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> whole >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(BodyStream, TakesMuchMoreThanItHolds) {
  TestServer server{config_for_uploads()};
  TestSocket client{server.port()};
  constexpr std::size_t kPieces = 256;
  const std::string piece(std::size_t{1} << 20, 'x');
  client.send(head_of("/upload", "Content-Length: 268435456\r\n"));
  client.send(piece);
  const std::size_t before = resident_bytes();
  std::size_t most = before;
  for (std::size_t i = 1; i < kPieces; ++i) {
    client.send(piece);
    most = std::max(most, resident_bytes());
  }
  EXPECT_EQ(client.answer().body, "268435456, all of it");
  EXPECT_LE(server.largest, std::size_t{192} << 10);
  if (kMemoryIsPlain) {
    EXPECT_LT(most - before, std::size_t{8} << 20);
  }
}

struct WireCase {
  const char* name;
  const char* headers;
  const char* body;
  const char* answer;
};
class StreamedBody : public testing::TestWithParam<WireCase> {};

TEST_P(StreamedBody, EndsWhereItEnds) {
  TestServer server{config_for_uploads()};
  TestSocket client{server.port()};
  client.send(head_of("/upload", GetParam().headers) + GetParam().body +
              head_of("/echo", "Content-Length: 2\r\n") + "hi");
  EXPECT_EQ(client.answer().body, GetParam().answer);
  EXPECT_EQ(client.answer().body, "POST /echo?\nhi") << "what follows is the next request";
}

INSTANTIATE_TEST_SUITE_P(
    Http, StreamedBody,
    testing::Values(WireCase{"Length", "Content-Length: 5\r\n", "hello", "5, all of it"},
                    WireCase{"Chunks", "Transfer-Encoding: chunked\r\n",
                             "5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n", "6, all of it"},
                    WireCase{"NoChunks", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n",
                             "0, all of it"},
                    WireCase{"Nothing", "Content-Length: 0\r\n", "", "0, all of it"},
                    WireCase{"NoLength", "", "", "0, all of it"}),
    [](const auto& test) { return test.param.name; });

TEST(BodyStream, ComesByteByByte) {
  TestServer server{config_for_uploads()};
  TestSocket client{server.port()};
  client.send(head_of("/upload", "Transfer-Encoding: chunked\r\n"));
  for (const char byte : std::string_view{"3\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"}) {
    client.send({&byte, 1});
  }
  EXPECT_EQ(client.answer().body, "5, all of it");
}

TEST(BodyStream, IsInvitedWhenItIsWanted) {
  TestServer server{config_for_uploads()};
  TestSocket client{server.port()};
  client.send(head_of("/upload", "Content-Length: 2\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  EXPECT_EQ(client.answer().body, "2, all of it");
  client.send(
      head_of("/upload?pieces=0", "Content-Length: 9999999999\r\nExpect: 100-continue\r\n"));
  const HttpResponse refused = client.answer();
  EXPECT_EQ(refused.body, "2, enough");
  EXPECT_EQ(refused.header("Connection"), "close");
  EXPECT_TRUE(client.at_end());
}

TEST(BodyStream, ThatIsNotReadToItsEndEndsTheConnection) {
  TestServer server{config_for_uploads()};
  TestSocket client{server.port()};
  client.send(head_of("/upload?pieces=1", "Content-Length: 10\r\n") + "hello");
  EXPECT_EQ(client.answer().header("Connection"), "close");
  EXPECT_TRUE(client.at_end());
}

TEST(BodyStream, TellsThatTheClientWent) {
  for (const bool waiting : {false, true}) {
    TestServer server{config_for_uploads()};
    TestSocket client{server.port()};
    client.send(head_of(
        "/upload", waiting ? "Transfer-Encoding: chunked\r\n" : "Content-Length: 1000000\r\n"));
    ASSERT_TRUE(server.started.reaches(1));
    if (!waiting) client.send("some of it");
    client.reset();
    EXPECT_TRUE(server.ended.reaches(1));
    EXPECT_EQ(server.gone.count(), 1);
    EXPECT_TRUE(server.empties());
  }
}

TEST(BodyStream, ThatDoesNotComeIsGivenUp) {
  ServerConfig config = config_for_uploads();
  config.body_timeout = milliseconds{40};
  TestServer server{config};
  TestSocket client{server.port()};
  client.send(head_of("/upload", "Content-Length: 10\r\n") + "hello");
  const HttpResponse late = client.answer();
  EXPECT_EQ(late.status, 408);
  EXPECT_EQ(late.header("Connection"), "close");
  EXPECT_TRUE(client.at_end());
}

// It is the server that took its time.
TEST(BodyStream, MayWaitForItsHandler) {
  ServerConfig config = config_for_uploads();
  config.body_timeout = milliseconds{100};
  config.min_body_rate = 1_GiB;
  TestServer server{config};
  TestSocket client{server.port()};
  client.send(head_of("/upload?slow", "Transfer-Encoding: chunked\r\n") + "1\r\na\r\n");
  ASSERT_TRUE(server.started.reaches(1));
  while (server.uploaded < 1) std::this_thread::yield();
  client.send("1\r\nb\r\n");
  while (server.uploaded < 2) std::this_thread::yield();
  client.send("0\r\n\r\n");
  EXPECT_EQ(client.answer().body, "2, all of it");
}

TEST(BodyStream, ThatIsNoProperHttpIsRefused) {
  TestServer server{config_for_uploads()};
  for (const char* body : {"5\r\nhelloXY\r\n0\r\n\r\n", "zz\r\n", "5\nhello\r\n"}) {
    TestSocket client{server.port()};
    client.send(head_of("/upload", "Transfer-Encoding: chunked\r\n") + body);
    EXPECT_EQ(client.answer().status, 400) << body;
    EXPECT_TRUE(client.at_end());
  }
}

TEST(BodyStream, LeavesOthersTheirLimit) {
  TestServer server{config_for_uploads()};
  TestSocket length{server.port()};
  length.send(head_of("/echo", "Content-Length: 1048577\r\n"));
  EXPECT_EQ(length.answer().status, 413);
  TestSocket chunks{server.port()};
  chunks.send(head_of("/echo", "Transfer-Encoding: chunked\r\n") + "100001\r\n");
  EXPECT_EQ(chunks.answer().status, 413);
}

TEST(BodyStream, ComesOnlyPastTheHeadCheck) {
  ServerConfig config = config_for_uploads();
  config.head_check = [](const HttpRequest&) {
    return std::optional{HttpResponse::text(401, "who are you?")};
  };
  TestServer server{config};
  TestSocket client{server.port()};
  client.send(head_of("/upload", "Content-Length: 9999999999\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(client.answer().body, "who are you?");
  EXPECT_EQ(server.started.count(), 0);
}

// The client is held up, not the memory filled.
TEST(BodyStream, IsNotReadFarAhead) {
  TestServer server{config_for_uploads()};
  TestSocket client{server.port()};
  client.send(head_of("/upload?slow&pieces=1", "Content-Length: 1000000000\r\n"));
  const std::string piece(std::size_t{1} << 20, 'x');
  std::size_t sent = 0;
  while (server.ended.count() == 0 && sent < (std::size_t{1} << 30)) sent += client.offer(piece);
  EXPECT_LT(sent, std::size_t{32} << 20) << "the kernel's buffers, and little more";
  EXPECT_LE(server.uploaded, std::size_t{192} << 10);
}

}  // namespace
}  // namespace hearth::http

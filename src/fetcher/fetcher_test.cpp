// SPDX-License-Identifier: Apache-2.0
// The whole process, over its socket.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/process.h"
#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "fetcher/testing/scripted_server.h"
#include "wire/blocking_channel.h"
#include "wire/fetch_messages.h"
#include "wire/messages.h"

namespace hearth::fetcher {
namespace {

using testing::Asked;
using testing::file_reply;
using testing::Reply;
using testing::reply;
using testing::ScriptedServer;
using wire::FrameType;

class FetcherProcess : public ::testing::Test {
 protected:
  void SetUp() override { start(); }

  void start() {
    ASSERT_EQ(::access(HEARTH_FETCHER, X_OK), 0) << HEARTH_FETCHER << " is not there";
    auto process = Processes::real().spawn({{HEARTH_FETCHER}, {}});
    ASSERT_TRUE(process) << process.error().message();
    process_ = *std::move(process);
    channel_ = std::make_unique<wire::BlockingChannel>(process_->control());
  }

  void send_rules(const std::string& host) {
    wire::FetchRules rules;
    rules.hosts = {host};
    rules.user_agent = "hearth/test";
    rules.retry_ms = 1;
    send(wire::make_frame(FrameType::kFetchRules, 0, wire::encode(rules)));
  }
  void send_file(std::uint64_t id, const std::string& url, const std::string& sha256) {
    wire::Frame frame = wire::make_frame(FrameType::kFetchFile, id,
                                         wire::encode(wire::FetchFile{url, {}, sha256, Bytes{}}));
    frame.descriptors.push_back(open("data"));
    frame.descriptors.push_back(open("journal"));
    send(frame);
  }
  void send(const wire::Frame& frame) { ASSERT_TRUE(channel_->send(frame)); }

  // The next that is not progress.
  wire::Frame answer() {
    for (;;) {
      auto frame = channel_->receive();
      if (!frame) {
        ADD_FAILURE() << frame.error().message();
        return {};
      }
      if (frame->type != FrameType::kFetching) return *std::move(frame);
      EXPECT_TRUE(wire::decode_fetching(frame->payload));
    }
  }
  std::string failure() {
    const wire::Frame frame = answer();
    EXPECT_EQ(frame.type, FrameType::kFailed);
    const auto failed = wire::decode_failed(frame.payload);
    return failed ? failed->code + ": " + failed->message : failed.error().message();
  }

  Fd open(const std::string& name) {
    return Fd{::open((directory_ / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<wire::BlockingChannel> channel_;
};

TEST_F(FetcherProcess, FetchesTextsAndFiles) {
  const std::string content(9 << 20, 'h');
  ScriptedServer server{[&](const Asked& asked) {
    if (asked.path == "/text") return reply(404, "", "\xff\n no");
    return file_reply(asked, content, "\"v1\"");
  }};
  send_rules(server.rule());
  send(wire::make_frame(FrameType::kFetchText, 5,
                        wire::encode(wire::FetchText{server.url("/text"), {}, Bytes{100}})));
  const wire::Frame text = answer();
  EXPECT_EQ(text.type, FrameType::kFetchedText);
  EXPECT_EQ(text.request, 5U);
  const auto fetched_text = wire::decode_fetched_text(text.payload);
  ASSERT_TRUE(fetched_text) << fetched_text.error().message();
  EXPECT_EQ(fetched_text->status, 404);
  EXPECT_EQ(fetched_text->body, "\xff\n no");

  const std::string digest = hex_of(Sha256{}.add(content).finish());
  send_file(6, server.url("/file"), digest);
  const wire::Frame file = answer();
  ASSERT_EQ(file.type, FrameType::kFetched);
  EXPECT_EQ(file.request, 6U);
  EXPECT_EQ(wire::decode_fetched(file.payload)->sha256, digest);
  std::ifstream data{directory_ / "data", std::ios::binary};
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>{data}, {}), content);
}

TEST_F(FetcherProcess, SaysWhatItCannotDo) {
  send(wire::make_frame(FrameType::kFetchText, 1, "{}"));
  EXPECT_EQ(failure(), "internal: the fetcher was not told its rules");
  send_rules("not/a/host");
  send_file(2, "https://a.example/x", "");
  EXPECT_TRUE(failure().starts_with("invalid: pull_hosts: "));
  send_rules("b.example");
  send_file(3, "https://a.example/x", "");
  EXPECT_TRUE(failure().starts_with("invalid: a.example is not among the hosts"));
  send(wire::make_frame(FrameType::kFetchFile, 4, R"({"url":"https://b.example/"})"));
  EXPECT_EQ(failure(), "internal: a file needs the descriptors of its data and its journal");
  send(wire::make_frame(FrameType::kFetchText, 5, "[]"));
  EXPECT_EQ(failure(), "corrupt: a JSON object was expected");
}

TEST_F(FetcherProcess, EndsWithItsFrontInMidDownload) {
  ScriptedServer server{[](const Asked&) {
    return Reply{
        "HTTP/1.1 206 X\r\nContent-Length: 100\r\nContent-Range: bytes 0-99/1000\r\n\r\nab",
        Reply::Then::kStall};
  }};
  send_rules(server.rule());
  send_file(1, server.url("/file"), "");
  const auto progress = channel_->receive();
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->type, FrameType::kFetching);
  const ExitStatus status = process_->stop(std::chrono::seconds{30});
  EXPECT_EQ(describe(status), "exit code 0");
}

TEST_F(FetcherProcess, WhatCameBeforeAKillCounts) {
  const std::string content(40 << 20, 'h');
  const auto half = static_cast<std::uint64_t>(content.size() / 2);
  std::atomic<bool> stalls{true};
  ScriptedServer server{[&](const Asked& asked) {
    Reply reply = file_reply(asked, content, "\"v1\"");
    if (!stalls || asked.part(content.size()).begin < half) return reply;
    reply.bytes.resize(reply.bytes.size() / 2);
    reply.then = Reply::Then::kStall;
    return reply;
  }};
  send_rules(server.rule());
  send_file(1, server.url("/file"), "");
  for (Bytes done; done < Bytes{half};) {
    const auto frame = channel_->receive();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->type, FrameType::kFetching);
    done = wire::decode_fetching(frame->payload)->done;
  }
  process_->kill();
  process_->stop(std::chrono::seconds{30});

  stalls = false;
  start();
  send_rules(server.rule());
  send_file(2, server.url("/file"), "");
  const wire::Frame file = answer();
  ASSERT_EQ(file.type, FrameType::kFetched);
  const auto fetched = wire::decode_fetched(file.payload);
  ASSERT_TRUE(fetched);
  EXPECT_EQ(fetched->sha256, hex_of(Sha256{}.add(content).finish()));
  EXPECT_LE(fetched->received.count(), content.size() - half);
}

TEST_F(FetcherProcess, StaysSmall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory would be measured";
#endif
  const std::string content(96 << 20, 'h');
  ScriptedServer server{[&](const Asked& asked) { return file_reply(asked, content, "\"v1\""); }};
  send_rules(server.rule());
  send_file(1, server.url("/file"), "");
  ASSERT_EQ(answer().type, FrameType::kFetched);
  std::ifstream status{"/proc/" + std::to_string(process_->pid()) + "/status"};
  std::string word;
  std::uint64_t peak_kib = 0;
  while (status >> word && word != "VmHWM:") continue;
  status >> peak_kib;
  EXPECT_GT(peak_kib, 0U);
  EXPECT_LT(peak_kib, 40U << 10);
  RecordProperty("peak_kib", static_cast<int>(peak_kib));
}

}  // namespace
}  // namespace hearth::fetcher

// SPDX-License-Identifier: Apache-2.0
#include "wire/blocking_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "wire/frame_buffer.h"
#include "wire/frame_header.h"

namespace hearth::wire {
namespace {

Frame frame_of(FrameType type, std::uint64_t request, std::string payload) {
  Frame frame;
  frame.type = type;
  frame.request = request;
  frame.payload = std::move(payload);
  return frame;
}

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 512; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

class BlockingChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    near_ = Fd{ends[0]};
    far_ = Fd{ends[1]};
  }
  Result<Frame> receive() { return BlockingChannel{near_.get()}.receive(); }
  void write_far(std::string_view bytes) {
    ASSERT_EQ(::write(far_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  Fd near_;
  Fd far_;
};

TEST_F(BlockingChannelTest, CarriesAFrame) {
  BlockingChannel far{far_.get()};
  ASSERT_TRUE(far.send(frame_of(FrameType::kGenerate, 42, R"({"prompt":"hi"})")));
  ASSERT_TRUE(far.send(frame_of(FrameType::kCancel, 42, "")));
  const auto first = receive();
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->type, FrameType::kGenerate);
  EXPECT_EQ(first->request, 42U);
  EXPECT_EQ(first->payload, R"({"prompt":"hi"})");
  const auto second = receive();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->type, FrameType::kCancel);
}

TEST_F(BlockingChannelTest, DescriptorsStayWithTheirFrame) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const Fd unused{pipe_ends[1]};
  Frame open = frame_of(FrameType::kOpen, 0, "{}");
  open.descriptors.emplace_back(pipe_ends[0]);
  open.descriptors.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  struct stat sent[2];
  for (int i = 0; i < 2; ++i) ASSERT_EQ(::fstat(open.descriptors[i].get(), &sent[i]), 0);

  BlockingChannel far{far_.get()};
  ASSERT_TRUE(far.send(frame_of(FrameType::kCancel, 1, "before")));
  ASSERT_TRUE(far.send(open));
  ASSERT_TRUE(far.send(frame_of(FrameType::kLoad, 0, "after")));

  ASSERT_TRUE(receive()->descriptors.empty());
  const auto received = receive();
  ASSERT_TRUE(received) << received.error().message();
  ASSERT_EQ(received->descriptors.size(), 2U);
  for (int i = 0; i < 2; ++i) {
    struct stat got{};
    ASSERT_EQ(::fstat(received->descriptors[i].get(), &got), 0);
    EXPECT_EQ(got.st_ino, sent[i].st_ino);
    EXPECT_EQ(got.st_dev, sent[i].st_dev);
    EXPECT_NE(::fcntl(received->descriptors[i].get(), F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_TRUE(receive()->descriptors.empty());
}

TEST_F(BlockingChannelTest, CarriesAsManyDescriptorsAsAllowed) {
  Frame open = frame_of(FrameType::kOpen, 0, "");
  for (std::size_t i = 0; i < kMaxDescriptors; ++i) {
    open.descriptors.emplace_back(::fcntl(far_.get(), F_DUPFD_CLOEXEC, 0));
  }
  ASSERT_TRUE(BlockingChannel{far_.get()}.send(open));
  const auto received = receive();
  ASSERT_TRUE(received) << received.error().message();
  EXPECT_EQ(received->descriptors.size(), kMaxDescriptors);
}

TEST_F(BlockingChannelTest, ClosesDescriptorsThatWereNotAnnounced) {
  const int before = open_descriptors();
  {
    std::vector<Fd> extra;
    for (int i = 0; i < 3; ++i) extra.emplace_back(::fcntl(far_.get(), F_DUPFD_CLOEXEC, 0));
    const std::string header = encode_header(frame_of(FrameType::kLoad, 0, ""));
    ASSERT_TRUE(send_some(far_.get(), header, extra));
    const auto received = receive();
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(BlockingChannelTest, ClosesDescriptorsThatRideOnAPayload) {
  const int before = open_descriptors();
  {
    std::vector<Fd> extra;
    extra.emplace_back(::fcntl(far_.get(), F_DUPFD_CLOEXEC, 0));
    write_far(encode_header(frame_of(FrameType::kLoad, 0, "abc")));
    ASSERT_TRUE(send_some(far_.get(), "abc", extra));
    const auto received = receive();
    ASSERT_TRUE(received) << received.error().message();
    EXPECT_TRUE(received->descriptors.empty());
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(BlockingChannelTest, RefusesToSendOverTheLimits) {
  BlockingChannel far{far_.get()};
  const auto large = far.send(frame_of(FrameType::kGenerate, 1, std::string(kMaxPayload + 1, ' ')));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), ErrorCode::kInternal);
  Frame many = frame_of(FrameType::kOpen, 1, "");
  many.descriptors.resize(kMaxDescriptors + 1);
  ASSERT_FALSE(far.send(many));
  ASSERT_TRUE(far.send(frame_of(FrameType::kLoad, 9, "")));
  EXPECT_EQ(receive()->request, 9U) << "something was sent of what was refused";
}

TEST_F(BlockingChannelTest, EndOfFileAnywhereMeansUnavailable) {
  const Frame frame = frame_of(FrameType::kLoad, 1, "payload");
  const std::string text = encode_header(frame) + frame.payload;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    SetUp();
    write_far(std::string_view{text}.substr(0, cut));
    far_.reset();
    const auto received = receive();
    ASSERT_FALSE(received) << "cut at " << cut;
    EXPECT_EQ(received.error().code(), ErrorCode::kUnavailable);
  }
}

TEST_F(BlockingChannelTest, SendToAPeerThatHasGoneIsAnErrorNotASignal) {
  near_.reset();
  const auto sent = BlockingChannel{far_.get()}.send(frame_of(FrameType::kDelta, 1, "{}"));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code(), ErrorCode::kUnavailable);
}

TEST_F(BlockingChannelTest, CarriesMoreThanTheSocketHolds) {
  std::string payload(std::size_t{8} << 20, '\0');
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(i * 31 >> 7);
  std::thread sender{[&] {
    EXPECT_TRUE(BlockingChannel{far_.get()}.send(frame_of(FrameType::kEmbedded, 3, payload)));
  }};
  const auto received = receive();
  sender.join();
  ASSERT_TRUE(received) << received.error().message();
  EXPECT_TRUE(received->payload == payload);
}

TEST_F(BlockingChannelTest, FramesOfSeveralThreadsStayWhole) {
  constexpr int kThreads = 3;
  constexpr int kFrames = 200;
  BlockingChannel far{far_.get()};
  std::vector<std::thread> senders;
  for (int t = 0; t < kThreads; ++t) {
    senders.emplace_back([&far, t] {
      for (int i = 0; i < kFrames; ++i) {
        const std::string payload(static_cast<std::size_t>(i) * 97, static_cast<char>('a' + t));
        ASSERT_TRUE(far.send(frame_of(FrameType::kDelta, static_cast<std::uint64_t>(t), payload)));
      }
    });
  }
  std::vector<std::size_t> next(kThreads, 0);
  for (int i = 0; i < kThreads * kFrames; ++i) {
    const auto frame = receive();
    ASSERT_TRUE(frame) << frame.error().message();
    const auto from = static_cast<std::size_t>(frame->request);
    ASSERT_LT(from, next.size());
    ASSERT_EQ(frame->payload, std::string(next[from]++ * 97, static_cast<char>('a' + from)));
  }
  for (std::thread& sender : senders) sender.join();
}

}  // namespace
}  // namespace hearth::wire

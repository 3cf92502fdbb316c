// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/blocking_channel.h"
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

std::string wire_text(const Frame& frame) { return encode_header(frame) + frame.payload; }

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

std::string header_text(FrameHeader header) {
  const auto bytes = header.encode();
  return {bytes.data(), bytes.size()};
}

TEST(FrameBuffer, HeaderIsLittleEndian) {
  EXPECT_EQ(encode_header(frame_of(FrameType::kReady, 0x0102, "abc")),
            std::string("\x03\0\0\0\x40\0\0\0\x02\x01\0\0\0\0\0\0", 16));
}

TEST(FrameBuffer, GivesSeveralFramesOfOneRead) {
  FrameBuffer buffer;
  buffer.append(bytes_of(wire_text(frame_of(FrameType::kDelta, 7, "{}")) +
                         wire_text(frame_of(FrameType::kUnloaded, 0, "")) +
                         wire_text(frame_of(FrameType::kDone, ~std::uint64_t{0}, "x"))));
  auto first = buffer.next();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->type, FrameType::kDelta);
  EXPECT_EQ((*first)->request, 7U);
  EXPECT_EQ((*first)->payload, "{}");
  auto second = buffer.next();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->payload, "");
  auto third = buffer.next();
  ASSERT_TRUE(third && *third);
  EXPECT_EQ((*third)->request, ~std::uint64_t{0});
  auto none = buffer.next();
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(FrameBuffer, DoesNotMindWhereTheBytesWereCut) {
  const std::string text = wire_text(frame_of(FrameType::kDelta, 1, "first")) +
                           wire_text(frame_of(FrameType::kDelta, 2, "second"));
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    FrameBuffer buffer;
    std::string seen;
    const auto drain = [&] {
      for (auto frame = buffer.next(); frame && *frame; frame = buffer.next()) {
        seen += (*frame)->payload + ';';
      }
    };
    buffer.append(bytes_of(std::string_view{text}.substr(0, cut)));
    drain();
    buffer.append(bytes_of(std::string_view{text}.substr(cut)));
    drain();
    EXPECT_EQ(seen, "first;second;") << "cut at " << cut;
  }
}

TEST(FrameBuffer, TakesByteByByte) {
  const std::string text = wire_text(frame_of(FrameType::kDelta, 1, "payload"));
  FrameBuffer buffer;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto early = buffer.next();
    ASSERT_TRUE(early);
    ASSERT_FALSE(*early);
    buffer.append(bytes_of(std::string_view{text}.substr(i, 1)));
  }
  auto frame = buffer.next();
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->payload, "payload");
}

struct HostileCase {
  const char* name;
  FrameHeader header;
};
class HostileHeader : public testing::TestWithParam<HostileCase> {};
TEST_P(HostileHeader, IsCorruptBeforeItsPayloadArrives) {
  FrameBuffer buffer;
  buffer.append(bytes_of(header_text(GetParam().header)));
  for (int again = 0; again < 2; ++again) {
    const auto frame = buffer.next();
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code(), ErrorCode::kCorrupt);
  }
}
TEST_P(HostileHeader, IsCorruptOnASocketToo) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Fd ours{ends[0]};
  const Fd theirs{ends[1]};
  const std::string text = header_text(GetParam().header);
  ASSERT_EQ(::write(theirs.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const auto frame = BlockingChannel{ours.get()}.receive();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), ErrorCode::kCorrupt);
}
INSTANTIATE_TEST_SUITE_P(
    Frames, HostileHeader,
    testing::Values(HostileCase{"LongestLength", {0xFFFFFFFF, FrameType::kDelta, 0, 1}},
                    HostileCase{"OneOverTheLimit", {kMaxPayload + 1, FrameType::kDelta, 0, 1}},
                    HostileCase{"TooManyDescriptors", {0, FrameType::kDelta, 0xFFFF, 1}},
                    HostileCase{"DescriptorsFromNowhere", {0, FrameType::kDelta, 1, 1}},
                    HostileCase{"TypeZero", {0, FrameType{0}, 0, 1}},
                    HostileCase{"TypeBetween", {0, FrameType{63}, 0, 1}},
                    HostileCase{"TypeBeyond", {0, FrameType{0xFFFF}, 0, 1}}),
    [](const auto& test) { return test.param.name; });

class SendSome : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    front_ = Fd{ends[0]};
    worker_ = Fd{ends[1]};
  }
  Fd front_;
  Fd worker_;
};

TEST_F(SendSome, StopsAtAFullSocketAndGoesOnLater) {
  const std::string payload(std::size_t{3} << 20, 'x');
  const std::string text = wire_text(frame_of(FrameType::kGenerate, 5, payload));
  std::string received;
  std::size_t sent = 0;
  int times_full = 0;
  while (sent < text.size()) {
    const auto n = send_some(front_.get(), std::string_view{text}.substr(sent), {});
    ASSERT_TRUE(n) << n.error().message();
    sent += *n;
    if (*n != 0) continue;
    ++times_full;
    char some[65536];
    const ssize_t got = ::read(worker_.get(), some, sizeof some);
    ASSERT_GT(got, 0);
    received.append(some, static_cast<std::size_t>(got));
  }
  EXPECT_GT(times_full, 0);
  EXPECT_EQ(received, text.substr(0, received.size()));
}

TEST_F(SendSome, ReportsAPeerThatHasGone) {
  worker_.reset();
  const auto n = send_some(front_.get(), "x", {});
  ASSERT_FALSE(n);
  EXPECT_EQ(n.error().code(), ErrorCode::kUnavailable);
}

TEST_F(SendSome, RefusesTooManyDescriptors) {
  std::vector<Fd> many(kMaxDescriptors + 1);
  const auto n = send_some(front_.get(), "x", many);
  ASSERT_FALSE(n);
  EXPECT_EQ(n.error().code(), ErrorCode::kInternal);
}

// The header alone goes out with the descriptors, the rest later, as a full socket would have it.
TEST_F(SendSome, DescriptorsReachTheChannelHoweverTheHeaderIsCut) {
  for (std::size_t cut = 1; cut <= kHeaderSize + 2; ++cut) {
    Frame frame = frame_of(FrameType::kOpen, 0, "{}");
    frame.descriptors.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const std::string text = wire_text(frame);
    ASSERT_TRUE(send_some(front_.get(), text.substr(0, cut), frame.descriptors));
    ASSERT_TRUE(send_some(front_.get(), text.substr(cut), {}));
    const auto received = BlockingChannel{worker_.get()}.receive();
    ASSERT_TRUE(received) << cut << ": " << received.error().message();
    EXPECT_EQ(received->descriptors.size(), 1U);
  }
}

}  // namespace
}  // namespace hearth::wire

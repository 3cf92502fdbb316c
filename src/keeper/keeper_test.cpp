// SPDX-License-Identifier: Apache-2.0
#include "keeper/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "wire/blocking_channel.h"
#include "wire/messages.h"

namespace hearth::keeper {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using wire::Frame;
using wire::FrameType;

// All that the front says is in the socket before the keeper looks.
class KeeperTest : public ::testing::Test {
 protected:
  KeeperTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    front_ = Fd{ends[0]};
    keeper_ = Fd{ends[1]};
    path_ = directory_.path() + "/file";
    std::ofstream{path_, std::ios::binary} << std::string(1 << 20, 'x');
  }

  void ask_to_keep(std::uint64_t id, Bytes size) {
    wire::KeepMessage message;
    message.pieces = {{0, 0, size}};
    Frame frame = wire::make_frame(FrameType::kKeep, id, wire::encode(message));
    frame.descriptors.push_back(*Files::real().open_read(path_));
    ASSERT_TRUE(wire::BlockingChannel{front_.get()}.send(frame));
  }

  void ask_to_forget(std::uint64_t id) {
    const Frame frame = wire::make_frame(FrameType::kForget, id, "{}");
    ASSERT_TRUE(wire::BlockingChannel{front_.get()}.send(frame));
  }

  // Serves until all is done; the answers as "1 kept", "2 conflict".
  std::vector<std::string> serve_all() {
    EXPECT_EQ(::shutdown(front_.get(), SHUT_WR), 0);
    serve(keeper_.get(), locks_);
    keeper_.reset();
    std::vector<std::string> answers;
    wire::BlockingChannel channel{front_.get()};
    while (const auto frame = channel.receive()) {
      std::string answer = std::to_string(frame->request) + " kept";
      if (frame->type == FrameType::kFailed) {
        answer = std::to_string(frame->request) + " " + wire::decode_failed(frame->payload)->code;
      }
      answers.push_back(std::move(answer));
    }
    return answers;
  }

  TemporaryDirectory directory_;
  std::string path_;
  Fd front_;
  Fd keeper_;
  Locks locks_{64_KiB};
};

TEST_F(KeeperTest, GivesUpALockThatIsToBeForgotten) {
  ask_to_keep(1, 1_MiB);
  ask_to_forget(1);
  EXPECT_THAT(serve_all(), ElementsAre("1 conflict"));
  EXPECT_EQ(locks_.locked(), Bytes{});
}

TEST_F(KeeperTest, GivesUpWhenItsFrontHasGone) {
  ask_to_keep(1, 1_MiB);
  EXPECT_THAT(serve_all(), ElementsAre("1 conflict"));
  EXPECT_EQ(locks_.locked(), Bytes{});
}

TEST_F(KeeperTest, EndsWhereNothingIsAsked) { EXPECT_THAT(serve_all(), IsEmpty()); }

// What came in the meantime is done afterwards, in its order.
TEST_F(KeeperTest, LosesNothingThatCameDuringALock) {
  ask_to_keep(1, 64_KiB);
  ask_to_keep(2, 64_KiB);
  ask_to_forget(2);
  ask_to_keep(3, 1_MiB);
  std::thread keeper{[this] { serve(keeper_.get(), locks_); }};
  wire::BlockingChannel channel{front_.get()};
  std::vector<std::uint64_t> kept;
  for (int i = 0; i < 3; ++i) {
    const auto frame = channel.receive();
    ASSERT_TRUE(frame);
    if (frame->type == FrameType::kKept) kept.push_back(frame->request);
  }
  EXPECT_EQ(::shutdown(front_.get(), SHUT_WR), 0);
  keeper.join();
  EXPECT_THAT(kept, ElementsAre(1, 3));
  EXPECT_EQ(locks_.locked(), 64_KiB + 1_MiB);
}

}  // namespace
}  // namespace hearth::keeper

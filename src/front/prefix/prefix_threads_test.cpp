// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>

#include "base/event_loop_asio.h"
#include "base/sync.h"
#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using testing::prompt;
using testing::record_of;

// The same with a pool that has threads: what the loop and the pool share must stand that.
class PrefixThreads : public ::testing::Test {
 protected:
  PrefixRoom::Use use() const {
    PrefixRoom::Use use;
    use.artifact = "a";
    use.ready.engine = "engine";
    return use;
  }
  static Task<int> serve(PrefixThreads* self, PrefixRoom* room, std::uint64_t id) {
    PrefixRoom::Ask ask;
    ask.request = id;
    ask.use = self->use();
    ask.tokens = prompt(static_cast<int>(id % 7), 64 * (1 + id % 9));
    const std::vector<int> tokens = ask.tokens;
    const Digest root = *digest_of_hex(room->domain(ask.use));
    const std::vector<wire::Frame> frames = co_await room->plan(std::move(ask));
    const auto plan = wire::decode_prefix_plan(frames.back().payload);
    room->note_started(id, {});
    wire::BlocksMessage message;
    const auto chain = blocks::chain_of(root, tokens);
    Bytes sum;
    for (std::size_t i = 0; i < plan->keep.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(plan->keep_from) + i;
      if (at >= chain.size()) break;
      const std::string record = record_of(root, at == 0 ? root : chain[at - 1],
                                           std::span{tokens}.subspan(at * 64, 64), at * 64);
      sum += Bytes{record.size()};
      if (sum > plan->keep_limit) break;
      const auto offset =
          static_cast<off_t>(plan->keep[i]) * static_cast<off_t>(wire::kArenaPitch.count());
      (void)!::pwrite(self->memory_.get(), record.data(), record.size(), offset);
      message.sizes.push_back(Bytes{record.size()});
    }
    room->note_blocks(id, message);
    co_return static_cast<int>(plan->stored.size());
  }
  static Task<void> client(PrefixThreads* self, PrefixRoom* room, std::uint64_t first) {
    for (std::uint64_t id = first; id < first + 200; ++id) {
      self->hits_ += co_await serve(self, room, id);
      if (id % 50 == 0) {
        PrefixRoom::Choice choice;
        choice.artifact = "a";
        Result<Bytes> spilled = co_await room->spill(std::move(choice));
        EXPECT_TRUE(spilled);
      }
    }
    --self->running_;
    self->ended_->notify_all();
  }
  static Task<void> run(PrefixThreads* self, PrefixRoom* room) {
    co_await room->open();
    self->memory_ = std::move(*room->arena("a"));
    for (std::uint64_t i = 0; i < 4; ++i) {
      ++self->running_;
      self->loop_.spawn(client(self, room, 1 + i * 1000));
    }
    while (self->running_ > 0) co_await self->ended_->wait();
    co_await room->stop();
    self->loop_.stop();
  }

  AsioEventLoop loop_;
  std::optional<Notify> ended_{std::in_place, loop_};
  Fd memory_;
  int running_ = 0;
  int hits_ = 0;
};

TEST_F(PrefixThreads, RequestsAndWritingGoOnTogether) {
  const hearth::testing::TempDir directory;
  Pool pool{"test", 3};
  PrefixRoom room{
      {loop_, pool, Files::real(), Clock::real(), directory.path() + "/prefix",
       [] { return PrefixRoom::Limits{Bytes{1 << 20}, Bytes{1 << 20}, Bytes{1 << 30}, 0, 30}; },
       [](const std::string&) { return std::optional<std::string>{"content"}; },
       [](const std::string&) { return 0.0; }}};
  loop_.spawn(run(this, &room));
  loop_.run();
  EXPECT_GT(hits_, 1000);
  EXPECT_EQ(room.figures().refused.size(), 0u);
  EXPECT_GT(room.figures().written_today, Bytes{});
}

}  // namespace
}  // namespace hearth::front

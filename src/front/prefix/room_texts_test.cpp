// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using testing::prompt;
using wire::BlockTier;

// Texts that were evaluated alone, offered to prompts that have them elsewhere.
class RoomTexts : public ::testing::Test, protected testing::RoomFixture {
 protected:
  void keep(int number, std::size_t tokens) {
    serve({.tokens = prompt(number, tokens), .module = "house 1"});
  }
  Open ask(const std::vector<int>& text, const std::string& group = "") {
    return begin({.group = group, .tokens = prompt(9, 300), .texts = {text}});
  }
};

TEST_F(RoomTexts, AreOfferedByTheirWholeBlocks) {
  open();
  keep(1, 200);
  Open plan = ask(prompt(1, 200));
  ASSERT_EQ(plan.texts.size(), 1U);
  EXPECT_EQ(plan.texts[0].tokens, prompt(1, 192));
  ASSERT_EQ(plan.texts[0].stored.size(), 3U);
  for (const auto& stored : plan.texts[0].stored) EXPECT_EQ(stored.tier, BlockTier::kArena);
  EXPECT_NE(plan.texts[0].stored[0].place, plan.texts[0].stored[1].place);
  EXPECT_EQ(plan.served.arena, 0) << "the prompt begins otherwise";
}

TEST_F(RoomTexts, AreNotOfferedUnasked) {
  open();
  keep(1, 200);
  EXPECT_TRUE(begin({.tokens = prompt(9, 300)}).texts.empty());
}

TEST_F(RoomTexts, StayWithinTheirGroup) {
  open();
  keep(1, 200);
  EXPECT_TRUE(ask(prompt(1, 200), "others").texts.empty());
}

TEST_F(RoomTexts, AreNotOfferedWhereRepeatsAreExact) {
  options_.exact = true;
  open();
  keep(1, 1024);
  EXPECT_GT(room().kept(use("a"), prompt(1, 1024)).anywhere, 0);
  EXPECT_TRUE(ask(prompt(1, 1024)).texts.empty());
}

TEST_F(RoomTexts, AreNotOfferedWhereNothingCanBeRestored) {
  open();
  keep(1, 200);
  not_restorable_ = "recurrent";
  EXPECT_TRUE(ask(prompt(1, 200)).texts.empty());
}

TEST_F(RoomTexts, OfOneBlockAreOfNoUse) {
  open();
  keep(1, 100);
  EXPECT_TRUE(ask(prompt(1, 100)).texts.empty());
}

TEST_F(RoomTexts, ComeFromDiskInTheLastFrame) {
  open();
  keep(1, 200);
  keep(9, 64 * 127);
  (void)wait(room().spill({"a", std::nullopt}));
  Open plan = begin({.tokens = prompt(9, 64 * 127), .texts = {prompt(1, 200)}});
  EXPECT_EQ(plan.served.disk, 127);
  EXPECT_EQ(plan.served.frames, 2U) << "more files than one frame carries";
  ASSERT_EQ(plan.texts.size(), 1U);
  EXPECT_EQ(plan.descriptors, 3U);
  for (int i = 0; i < 3; ++i) {
    const auto& stored = plan.texts[0].stored.at(static_cast<std::size_t>(i));
    EXPECT_EQ(stored.tier, BlockTier::kDisk);
    EXPECT_EQ(stored.place, i);
  }
}

TEST_F(RoomTexts, ThatWereMovedCountAsHitsAndTeachNoRate) {
  open();
  keep(1, 200);
  const std::uint64_t before = room().figures().hit_tokens;
  Open plan = ask(prompt(1, 200));
  plan.started.prefix.shifted = 128;
  plan.started.prefix.arena_bytes = Bytes{20'000};
  Stage stage;
  stage.kind = StageKind::kRestore;
  stage.start = TimePoint{};
  stage.end = stage.start + std::chrono::milliseconds{5};
  plan.started.stages = {stage};
  start(plan);
  EXPECT_EQ(room().figures().hit_tokens, before + 128);
  EXPECT_EQ(room().figures().restore_memory_rate, 0);
  const std::uint64_t id = plan.id;
  finish(std::move(plan), 0);
  Open again = ask(prompt(1, 200));
  EXPECT_NE(again.id, id);
  EXPECT_EQ(room().found(again.id).seen, 0) << "nothing behind them is kept, and none can go";
}

}  // namespace
}  // namespace hearth::front

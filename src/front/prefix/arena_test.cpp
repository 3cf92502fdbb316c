// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/arena.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "wire/prefix_messages.h"

namespace hearth::front {
namespace {

void write(const Fd& memory, int slot, std::string_view text) {
  const auto at = static_cast<off_t>(slot) * static_cast<off_t>(wire::kArenaPitch.count());
  ASSERT_EQ(::pwrite(memory.get(), text.data(), text.size(), at),
            static_cast<ssize_t>(text.size()));
}

TEST(Arena, ASlotTakesWhatIsWrittenUntilItIsPunched) {
  Arena arena = std::move(*Arena::create("test"));
  const Fd worker = std::move(*arena.share());
  EXPECT_EQ(arena.resident(), Bytes{});
  const int slot = arena.take().value();
  write(worker, slot, "abc");
  EXPECT_EQ(arena.resident(), Bytes{4096});
  const auto bytes = arena.read(slot, Bytes{3});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(static_cast<char>(bytes->at(2)), 'c');
  arena.punch(slot);
  EXPECT_EQ(arena.resident(), Bytes{});
  EXPECT_EQ(arena.read(slot, Bytes{3})->at(2), std::byte{});
}

TEST(Arena, NumbersAreUsedAgainTheLowestFirst) {
  Arena arena = std::move(*Arena::create("test"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(arena.take(), i);
  arena.give_back(3);
  arena.give_back(1);
  EXPECT_EQ(arena.taken(), 3);
  EXPECT_EQ(arena.take(), 1);
  EXPECT_EQ(arena.take(), 3);
  EXPECT_EQ(arena.take(), 5);
}

TEST(Arena, AWorkerCanNeitherCutNorLengthenIt) {
  const Arena arena = std::move(*Arena::create("test"));
  const Fd worker = std::move(*arena.share());
  EXPECT_NE(::ftruncate(worker.get(), 0), 0);
  EXPECT_NE(::ftruncate(worker.get(), off_t{1} << 50), 0);
}

TEST(Arena, EndsWhereItsSlotsDo) {
  Arena arena = std::move(*Arena::create("test"));
  EXPECT_FALSE(arena.read(0, wire::kArenaPitch + Bytes{1}));
  int taken = 0;
  while (arena.take()) ++taken;
  EXPECT_EQ(taken, 1 << 16);
  EXPECT_TRUE(arena.read(taken - 1, Bytes{100}));
  EXPECT_FALSE(arena.read(taken, Bytes{100}));
}

TEST(Arena, MovesWithItsMemory) {
  Arena first = std::move(*Arena::create("test"));
  const int slot = first.take().value();
  write(*first.share(), slot, "abc");
  Arena second = std::move(first);
  EXPECT_EQ(second.taken(), 1);
  EXPECT_EQ(static_cast<char>(second.read(slot, Bytes{1})->at(0)), 'a');
}

}  // namespace
}  // namespace hearth::front

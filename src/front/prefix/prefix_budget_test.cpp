// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>

#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::kInMemory;
using testing::kRecord;
using testing::prompt;
using testing::RoomFixture;

class PrefixBudget : public ::testing::Test, protected RoomFixture {
 protected:
  void expect_within() {
    EXPECT_LE(resident(), limits_.memory);
    EXPECT_LE(room().figures().memory, limits_.memory);
    EXPECT_LE(on_disk(), limits_.disk);
    EXPECT_EQ(room().figures().disk, on_disk());
  }
};

TEST_F(PrefixBudget, MemoryHoldsAndTheBeginningOfAPromptStays) {
  limits_.memory = Bytes{20 * kInMemory.count()};
  limits_.disk = Bytes{};
  open();
  serve({.tokens = prompt(9, 64)});
  for (int i = 1; i < 10; ++i) {
    serve({.tokens = prompt(i, 64 * 7)});
    expect_within();
  }
  EXPECT_EQ(serve({.tokens = prompt(9, 64 * 7)}).arena, 7);
  EXPECT_GT(room().figures().evicted_memory, 30u);
}

TEST_F(PrefixBudget, WhatARequestMayBeReadingStays) {
  limits_.memory = Bytes{10 * kInMemory.count()};
  open();
  serve({.tokens = prompt(1, 64)});
  serve({.tokens = prompt(1, 64 * 5)});
  Open reading = begin({.tokens = prompt(1, 64 * 5)});
  ASSERT_EQ(reading.served.arena, 5);
  for (int i = 2; i < 9; ++i) {
    serve({.tokens = prompt(i, 64 * 6)});
    expect_within();
  }
  EXPECT_EQ(begin({.tokens = prompt(1, 64 * 5)}).served.arena, 5);
  start(reading);
}

TEST_F(PrefixBudget, SlotsOfAPlanAreFreeWhenItEnds) {
  open();
  serve({.tokens = prompt(1, 64)});
  const auto all_go_to_one = [this](const char* how) {
    const Served served = begin({.tokens = prompt(2, 64 * 3)}).served;
    EXPECT_EQ(served.slots, 4) << how;
  };
  Open open = begin({.tokens = prompt(3, 64 * 3)});
  EXPECT_EQ(open.keep.front(), 1);
  finish(std::move(open), 0);
  open = begin({.tokens = prompt(3, 64 * 3)});
  EXPECT_EQ(open.keep.front(), 1) << "the same slots again";
  room().close(open.id);
  EXPECT_EQ(begin({.tokens = prompt(4, 64)}).keep.front(), 5) << "blocks may still come";
  loop().run_for(5min);
  EXPECT_EQ(begin({.tokens = prompt(5, 64)}).keep.front(), 1);
  lose_worker("a");
  EXPECT_EQ(begin({.tokens = prompt(6, 64)}).keep.front(), 1);
  all_go_to_one("after all that");
}

TEST_F(PrefixBudget, AReportMayComeBeforeItsReplyIsNoted) {
  open();
  Open early = begin({.tokens = prompt(1, 300), .generated = 130});
  const Open late = early;
  EXPECT_EQ(finish(std::move(early)).kept, 6);
  EXPECT_EQ(begin({.tokens = prompt(1, 300)}).served.tokens, 299);
  Open noted = late;
  noted.started.prefix.arena = 64;
  start(noted);
  EXPECT_EQ(room().figures().hit_tokens, 64u);
  start(noted);
  EXPECT_EQ(room().figures().hit_tokens, 64u) << "its plan has ended";
}

TEST_F(PrefixBudget, TheDaysBudgetOutlivesARestart) {
  limits_.daily = Bytes{5 * kRecord.count()};
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  be_quiet();
  EXPECT_EQ(files().size(), 4u);
  open();
  EXPECT_EQ(room().figures().written_today.count(), 4 * kRecord.count());
  serve({.tokens = prompt(2, 64 * 4)});
  be_quiet();
  EXPECT_EQ(files().size(), 5u);
  loop().run_for(25h);
  EXPECT_EQ(files().size(), 8u);
}

TEST_F(PrefixBudget, TheDiskHoldsAndSmallerLimitsAreFollowed) {
  limits_.disk = Bytes{10 * kRecord.count()};
  open();
  for (int i = 1; i < 6; ++i) {
    serve({.tokens = prompt(i, 64 * 4)});
    be_quiet();
    expect_within();
  }
  EXPECT_EQ(files().size(), 10u);
  limits_.disk = Bytes{3 * kRecord.count()};
  loop().run_for(2h);
  expect_within();
  limits_.disk = Bytes{2 * kRecord.count()};
  open();
  expect_within();
}

TEST_F(PrefixBudget, WhatNobodyUsedForDaysIsDeleted) {
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  serve({.tokens = prompt(2, 64 * 4)});
  for (int day = 0; day < 20; ++day) loop().run_for(24h);
  EXPECT_EQ(files().size(), 8u);
  open();
  EXPECT_EQ(serve({.tokens = prompt(2, 64 * 4)}).disk, 4);
  for (int day = 0; day < 15; ++day) loop().run_for(24h);
  EXPECT_EQ(files().size(), 4u);
  EXPECT_EQ(serve({.tokens = prompt(2, 64 * 4)}).disk, 4);
}

TEST_F(PrefixBudget, WhatIsInMemoryWaitsForNothing) {
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  PrefixRoom::Ask ask;
  ask.request = 1000;
  ask.use = use("a");
  ask.tokens = prompt(1, 64 * 4);
  std::optional<std::vector<wire::Frame>> frames;
  loop().spawn(hearth::testing::keep_value(room().plan(std::move(ask)), &frames));
  EXPECT_TRUE(frames) << "without a turn of the loop";
}

TEST_F(PrefixBudget, ALostWorkerOrADropDuringAPlanIsHarmless) {
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  for (const bool drop : {false, true}) {
    open();
    arena("a");
    PrefixRoom::Ask ask;
    ask.request = 1000;
    ask.use = use("a");
    ask.tokens = prompt(1, 64 * 4);
    std::optional<std::vector<wire::Frame>> frames;
    std::optional<Result<Bytes>> bytes;
    loop().spawn(hearth::testing::keep_value(room().plan(std::move(ask)), &frames));
    EXPECT_FALSE(frames);
    if (drop) loop().spawn(hearth::testing::keep_value(room().drop({}), &bytes));
    if (!drop) room().worker_lost("a");
    loop().run_ready();
    ASSERT_TRUE(frames);
    const auto plan = wire::decode_prefix_plan(frames->at(0).payload);
    EXPECT_EQ(plan->stored.size(), drop ? 4u : 0u);
    EXPECT_EQ(plan->stored.size(), frames->at(0).descriptors.size());
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(PrefixBudget, OneLongPromptTakesHalfOfMemoryAtMost) {
  limits_.memory = Bytes{40 * kInMemory.count()};
  limits_.disk = Bytes{};
  open();
  serve({.tokens = prompt(1, 64)});
  for (int i = 0; i < 3; ++i) serve({.tokens = prompt(1, 64 * 15)});
  EXPECT_EQ(serve({.tokens = prompt(2, 64 * 300)}).kept, 20);
  EXPECT_EQ(serve({.tokens = prompt(1, 64 * 15)}).arena, 15);
}

TEST_F(PrefixBudget, MemoryIsForgottenAfterThoseDaysToo) {
  limits_.disk = Bytes{};
  open();
  serve({.tokens = prompt(1, 64 * 4)});
  for (int day = 0; day < 31; ++day) loop().run_for(24h);
  EXPECT_EQ(room().figures().blocks_memory, 0);
  EXPECT_EQ(resident(), Bytes{});
}

// ---- at random ----

struct RandomRoom : PrefixBudget {
  void step(Random& random) {
    const auto pick = [&](std::uint64_t of) { return static_cast<int>(random.next() % of); };
    const int what = pick(100);
    Request request;
    request.artifact = pick(3) == 0 ? "b" : "a";
    request.group = pick(3) == 0 ? "x" : "";
    request.tokens = prompt(pick(6), static_cast<std::size_t>(30 + pick(900)));
    const auto cut = static_cast<std::size_t>(pick(900));
    for (std::size_t i = cut; i < request.tokens.size(); ++i) request.tokens[i] += pick(2) * 7;
    request.generated = static_cast<std::size_t>(pick(300));
    if (pick(15) == 0) request.module = "m";
    if (what < 50) {
      check(serve(std::move(request)));
    } else if (what < 70) {
      open_.push_back(begin(std::move(request)));
      if (pick(2) == 0) start(open_.back());
    } else if (what < 80 && !open_.empty()) {
      if (pick(3) == 0) room().close(open_.front().id);
      check(finish(std::move(open_.front()), static_cast<std::size_t>(pick(10))));
      open_.pop_front();
    } else {
      disturb(random, what);
    }
  }
  void disturb(Random& random, int what) {
    const std::string artifact = random.next() % 2 == 0 ? "a" : "b";
    if (what < 90) {
      be_quiet();
    } else if (what < 93) {
      lose_worker(artifact);
      std::erase_if(open_, [&](const Open& each) { return each.request.artifact == artifact; });
    } else if (what < 95) {
      (void)wait(room().drop({artifact, std::nullopt}));
    } else if (what < 97) {
      (void)wait(room().spill({artifact, std::nullopt}));
    } else if (what < 99) {
      loop().run_for(1h);
    } else {
      open_.clear();
      crash();
      make();
    }
  }
  void check(const Served& served) { EXPECT_TRUE(served.refused.empty()); }

  std::deque<Open> open_;
};

TEST_F(RandomRoom, BudgetsHoldAndAllThatIsOfferedIsRight) {
  limits_.memory = Bytes{50 * kInMemory.count()};
  limits_.disk = Bytes{70 * kRecord.count()};
  limits_.daily = Bytes{400 * kRecord.count()};
  Random random{7};
  open();
  int hits = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    step(random);
    loop().run_ready();
    expect_within();
    hits += room().figures().blocks_memory > 0 && room().figures().blocks_disk > 0 ? 1 : 0;
  }
  EXPECT_GT(hits, 500) << "or it tests nothing";
}

}  // namespace
}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/prewarm_book.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using namespace hearth::literals;
using namespace std::chrono_literals;

constexpr double kRate = 1 << 30;

PrewarmRules rules() {
  PrewarmRules rules;
  rules.step = 1_GiB;
  rules.bytes_a_day = 24_GiB;
  rules.earned_share = 0.5;
  return rules;
}

PrewarmCandidate wanted(const std::string& model, Bytes size, Bytes resident) {
  const auto seconds = static_cast<std::int64_t>(size.count() >> 30);
  return {model, size, resident, {}, 0.9, std::chrono::seconds{seconds}, false};
}

PrewarmBook restarted(const PrewarmBook& book, Duration saved, Duration now) {
  PrewarmBook again{rules()};
  again.take(book.notes(saved), now);
  return again;
}

// Reads and loses three models' worth, so that it rests.
void fail_at(PrewarmBook& book, const std::string& model, Duration now) {
  for (int i = 0; i < 4; ++i) {
    book.note_read(model, 1_GiB, now);
    book.note_resident(model, {}, 1_GiB, now);
  }
}

// With so much to spare that only the day's bytes count.
PrewarmBook earned_book() {
  PrewarmBook book{rules()};
  book.note_demand(100_GiB);
  return book;
}

TEST(PrewarmBook, AccountsOutliveRestarts) {
  PrewarmBook book{rules()};
  book.note_read("m", 4_GiB, 1h);
  book.note_used("m", 1e-9, 2h);
  book.note_read("m", 2_GiB, 2h);
  book.note_resident("m", 1_GiB, 8_GiB, 3h);
  PrewarmBook again = restarted(book, 3h, 5h);
  const PrewarmAccount account = again.account("m");
  EXPECT_EQ(account.read, 6_GiB);
  EXPECT_EQ(account.used, 4_GiB);
  EXPECT_EQ(account.wasted, 1_GiB);
  EXPECT_NEAR(account.gib_hours, 4 + 2, 1e-6) << "nothing lay there while the server was down";
  EXPECT_NEAR(account.saved_s, 4.29, 0.01);
  EXPECT_EQ(again.unused("m"), 1_GiB);
  again.note_used("m", 1e-9, 6h);
  EXPECT_EQ(again.account("m").used, 5_GiB);
  EXPECT_EQ(again.account("m").read, 6_GiB);
}

TEST(PrewarmBook, ARestartDoesNotFillTheDaysBytes) {
  PrewarmBook book = earned_book();
  book.note_read("m", 20_GiB, 1h);
  book.note_demand(100_GiB);
  ASSERT_EQ(book.allowance(1h), 4_GiB);
  for (int i = 0; i < 5; ++i) {
    book = restarted(book, 1h, 1h);
    EXPECT_EQ(book.allowance(1h), 4_GiB);
  }
  EXPECT_NEAR(static_cast<double>(restarted(book, 1h, 3h).allowance(3h).count()),
              static_cast<double>((6_GiB).count()), 1e6);
  EXPECT_EQ(restarted(book, 1h, 90h).allowance(90h), 24_GiB);
  EXPECT_NEAR(static_cast<double>(restarted(book, 1h, 1h).allowance(2h).count()),
              static_cast<double>((5_GiB).count()), 1e6);
}

TEST(PrewarmBook, WhatIsEarnedOutlivesARestart) {
  PrewarmBook book{rules()};
  EXPECT_EQ(book.allowance(1h), Bytes{});
  book.note_demand(6_GiB);
  book.note_read("m", 1_GiB, 1h);
  ASSERT_EQ(book.allowance(1h), 2_GiB);
  book = restarted(book, 1h, 30h);
  EXPECT_EQ(book.allowance(30h), 2_GiB);
  book.note_demand(6_GiB);
  EXPECT_EQ(book.allowance(30h), 5_GiB);
}

TEST(PrewarmBook, ARestOutlivesARestart) {
  PrewarmBook book{rules()};
  fail_at(book, "m", 1h);
  book.note_demand(16_GiB);
  ASSERT_TRUE(book.rests_until("m", 1h));
  EXPECT_NEAR(milliseconds_of(*book.rests_until("m", 1h) - 25h), 0, 1001);
  PrewarmBook again = restarted(book, 2h, 3h);
  ASSERT_TRUE(again.rests_until("m", 3h));
  const std::vector<PrewarmCandidate> models{wanted("m", 4_GiB, {})};
  EXPECT_FALSE(again.next(models, 8_GiB, kRate, 3h));
  EXPECT_TRUE(again.next(models, 8_GiB, kRate, 26h));
  EXPECT_FALSE(again.rests_until("m", 26h));
  EXPECT_FALSE(again.rests_until("other", 3h));
}

TEST(PrewarmBook, WhatRestsStillGivesWayAsItWould) {
  PrewarmBook book{rules()};
  fail_at(book, "old", 1h);
  book.note_demand(16_GiB);
  PrewarmBook again = restarted(book, 2h, 3h);
  std::vector<PrewarmCandidate> models{wanted("old", 4_GiB, 2_GiB), wanted("new", 4_GiB, {})};
  models[0].probability = 0.1;
  const auto step = again.next(models, {}, kRate, 3h);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->model, "new");
  ASSERT_EQ(step->releases.size(), 1U);
  EXPECT_EQ(step->releases[0].bytes, 1_GiB);
  models[0].probability = 0.9;
  EXPECT_FALSE(again.next(models, {}, kRate, 3h)) << "its bytes are worth as much";
}

TEST(PrewarmBook, AReplacedFileInheritsTheAccountAndWastesWhatLay) {
  PrewarmBook book = earned_book();
  book.note_read("old", 3_GiB, 1h);
  book.note_read("other", 1_GiB, 1h);
  book.rename("old", "new", 2h);
  EXPECT_EQ(book.models(), (std::vector<std::string>{"new", "other"}));
  EXPECT_EQ(book.account("new").read, 3_GiB);
  EXPECT_EQ(book.account("new").wasted, 3_GiB);
  EXPECT_EQ(book.unused("new"), Bytes{});
  EXPECT_EQ(book.unused("other"), 1_GiB);
  EXPECT_NEAR(static_cast<double>(book.allowance(2h).count()),
              static_cast<double>((20_GiB).count()), 1e6);
  book.forget("other", 2h);
  EXPECT_EQ(book.models(), std::vector<std::string>{"new"});
  book.rename("absent", "x", 2h);
  book.rename("new", "new", 2h);
  EXPECT_EQ(book.account("new").read, 3_GiB);
}

TEST(PrewarmBook, NothingNewIsToldFromSomethingNew) {
  PrewarmBook book{rules()};
  book.note_read("m", 2_GiB, 1h);
  const std::uint64_t version = book.version();
  book.note_resident("m", 2_GiB, 2_GiB, 2h);
  book.note_used("other", 1, 2h);
  EXPECT_EQ(book.version(), version);
  book.note_resident("m", 1_GiB, 2_GiB, 2h);
  EXPECT_GT(book.version(), version);
}

}  // namespace
}  // namespace hearth::front

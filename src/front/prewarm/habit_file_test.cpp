// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/habit_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "front/prewarm/testing/sim_clocks.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using namespace hearth::literals;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

class HabitFileTest : public ::testing::Test {
 protected:
  HabitFile make() { return HabitFile{Files::real(), path_, clocks_.moments()}; }
  void save(HabitFile& habits) {
    loop_.spawn(habits.save(loop_, pool_));
    loop_.run_ready();
  }
  std::string text() const {
    std::ifstream file{path_};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void write(const std::string& text) const { std::ofstream{path_, std::ios::trunc} << text; }
  // A day of a request an hour, and something read ahead.
  void live(HabitFile& habits) {
    for (int hour = 0; hour < 24; ++hour) {
      for (int i = 0; i < 12; ++i) {
        loop_.run_for(5min);
        habits.arrivals().observe(habits.moments().now());
      }
      habits.arrivals().note("m", habits.moments().now());
    }
    habits.prewarm().note_demand(9_GiB);
    habits.prewarm().note_read("m", 2_GiB, habits.now());
  }

  hearth::testing::TempDir directory_;
  std::string path_ = directory_.path() + "/arrivals.json";
  SimEventLoop loop_;
  testing::SimClocks clocks_{loop_};
  Pool pool_ = Pool::inline_for_tests();
};

TEST_F(HabitFileTest, OutlivesARestart) {
  HabitFile before = make();
  before.load();
  live(before);
  save(before);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(path_ + ".new"));
  HabitFile after = make();
  after.load();
  EXPECT_EQ(after.prewarm().account("m").read, 2_GiB);
  const Instant now = clocks_.moments().now();
  EXPECT_NEAR(after.arrivals().probability("m", now, 90min),
              before.arrivals().probability("m", now, 90min), 1e-6);
  EXPECT_GT(after.arrivals().probability("m", now, 90min), 0.5);
  EXPECT_EQ(after.now(), before.now());
}

TEST_F(HabitFileTest, NothingNewIsNotWritten) {
  HabitFile habits = make();
  habits.load();
  save(habits);
  EXPECT_EQ(text(), "");
  live(habits);
  save(habits);
  write("still here");
  save(habits);
  EXPECT_EQ(text(), "still here");
  loop_.run_for(1h);
  save(habits);
  EXPECT_NE(text(), "still here") << "an hour in which nothing came is worth writing down";
}

TEST_F(HabitFileTest, WhatIsNotWhollyRightIsSetAside) {
  HabitFile good = make();
  live(good);
  save(good);
  std::string whole = text();
  std::vector<std::string> bad{
      "", "{", "[]", "{\"version\":7}", "\xff\xfe", "null", "{\"version\":1,\"models\":{}}"};
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"day_left\":", "\"day_left\":-"},
           {"\"unused\":", "\"unused\":1e99,\"x\":"},
           {"\"boot\":\"", "\"boot\":7,\"x\":\""},
           {"\"rests_until_ns\":0", "\"rests_until_ns\":-1"},
           {"\"gib_hours\":0", "\"gib_hours\":\"0\""}}) {
    const std::size_t at = whole.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bad.push_back(std::string{whole}.replace(at, from.size(), to));
  }
  for (const std::string& text : bad) {
    write(text);
    HabitFile habits = make();
    habits.load();
    EXPECT_TRUE(habits.arrivals().all().empty()) << text.substr(0, 80);
    EXPECT_TRUE(habits.prewarm().models().empty());
    EXPECT_TRUE(fs::exists(path_ + ".bad")) << text.substr(0, 80);
    EXPECT_FALSE(fs::exists(path_));
    fs::remove(path_ + ".bad");
  }
}

TEST_F(HabitFileTest, NoDamageIsBelievedInHalf) {
  HabitFile good = make();
  live(good);
  save(good);
  const std::string whole = text();
  constexpr std::string_view kMarks = "0123456789-.,:e\"{}[] \xff";
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random{seed};
    std::string broken = whole.substr(0, seed % 4 == 0 ? random() % whole.size() : whole.size());
    for (int i = 0; i < 3 && !broken.empty(); ++i) {
      broken[random() % broken.size()] = kMarks[random() % kMarks.size()];
    }
    write(broken);
    HabitFile habits = make();
    habits.load();
    EXPECT_EQ(habits.arrivals().all().empty(), fs::exists(path_ + ".bad")) << seed;
    habits.arrivals().note("x", clocks_.moments().now());
    habits.arrivals().next("x", clocks_.moments().now());
    save(habits);
    fs::remove(path_ + ".bad");
  }
}

TEST_F(HabitFileTest, ADirectoryInItsPlaceHarmsNothing) {
  fs::create_directory(path_);
  HabitFile habits = make();
  habits.load();
  live(habits);
  save(habits);
  EXPECT_FALSE(habits.arrivals().all().empty());
  fs::remove_all(path_ + ".bad");
}

TEST_F(HabitFileTest, HabitsFollowAReplacedFile) {
  HabitFile habits = make();
  live(habits);
  habits.rename("m", "n");
  EXPECT_EQ(habits.arrivals().find("m"), nullptr);
  EXPECT_GT(habits.arrivals().probability("n", clocks_.moments().now(), 90min), 0.5);
  EXPECT_EQ(habits.prewarm().account("n").wasted, 2_GiB);
  habits.forget("n");
  EXPECT_EQ(habits.arrivals().probability("n", clocks_.moments().now(), 90min), 0);
  EXPECT_TRUE(habits.prewarm().models().empty());
}

TEST(ArrivalBook, KeepsTheModelsThatWereAskedForLast) {
  ArrivalBook book;
  for (std::size_t i = 0; i < kMaxArrivalModels + 10; ++i) {
    const Instant at{std::chrono::minutes{i}, static_cast<std::int64_t>(60 * i)};
    book.observe(at);
    book.note(std::string{"m"}.append(std::to_string(i)), at);
  }
  EXPECT_EQ(book.all().size(), kMaxArrivalModels);
  EXPECT_EQ(book.find("m9"), nullptr);
  EXPECT_NE(book.find("m10"), nullptr);
}

TEST(ArrivalBook, RenamesToItselfAndToAnother) {
  ArrivalBook book;
  book.note("a", {1h, 3600});
  book.note("b", {1h, 3600});
  book.rename("a", "a");
  book.rename("absent", "a");
  EXPECT_EQ(book.all().size(), 2U);
  book.rename("a", "b");
  EXPECT_EQ(book.all().size(), 1U);
  EXPECT_NE(book.find("b"), nullptr);
}

}  // namespace
}  // namespace hearth::front

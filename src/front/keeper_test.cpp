// SPDX-License-Identifier: Apache-2.0
#include "front/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "base/event_loop_asio.h"
#include "base/temporary_directory.h"

namespace hearth::front {
namespace {

using namespace literals;

TEST(FirstOf, KeepsTheSetsOrder) {
  const LoadSet set{{"a", {{0, 4_KiB}, {8192, 8_KiB}}}, {"b", {{0, 4_KiB}}}};
  EXPECT_EQ(size_of(first_of(set, Bytes{})), 16_KiB);
  EXPECT_EQ(size_of(first_of(set, 1_MiB)), 16_KiB);
  const LoadSet first = first_of(set, 6_KiB);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].ranges, (std::vector<Range>{{0, 4_KiB}, {8192, 2_KiB}}));
}

class KeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::access(HEARTH_KEEPER, X_OK), 0) << HEARTH_KEEPER << " is not there";
    const std::string path = directory_ / "file";
    std::ofstream{path, std::ios::binary} << std::string(32 << 10, 'x');
    set_ = {{path, {{0, 16_KiB}, {20 << 10, 4_KiB}}}};
  }

  void run(Task<void> body) { run(std::move(body), keeper_); }
  void run(Task<void> body, Keeper& keeper) {
    loop_.spawn(finish(loop_, keeper, std::move(body)));
    loop_.run();
  }
  static Task<void> finish(AsioEventLoop& loop, Keeper& keeper, Task<void> body) {
    co_await std::move(body);
    co_await keeper.stop();
    loop.stop();
  }

  TemporaryDirectory directory_;
  LoadSet set_;
  AsioEventLoop loop_;
  Pool pool_{"test", 2};
  Notify lost_{loop_};
  Keeper keeper_{
      Keeper::World{loop_, pool_, pool_, Files::real(), Processes::real(), HEARTH_KEEPER},
      [this] { lost_.notify_all(); }};
};

Task<void> keep_and_forget(Keeper& keeper, LoadSet set, std::vector<Bytes>& held) {
  std::string artifact = "a";
  const Result<> whole = co_await keeper.keep(artifact, set, Bytes{});
  EXPECT_TRUE(whole) << whole.error().message();
  held.push_back(keeper.held(artifact));
  const Result<> part = co_await keeper.keep(artifact, set, Bytes{4096});
  EXPECT_TRUE(part) << part.error().message();
  held.push_back(keeper.held(artifact));
  keeper.forget(artifact);
  held.push_back(keeper.held(artifact));
}

TEST_F(KeeperTest, HoldsWhatItIsTold) {
  std::vector<Bytes> held;
  run(keep_and_forget(keeper_, set_, held));
  EXPECT_EQ(held, (std::vector<Bytes>{20_KiB, 4_KiB, Bytes{}}));
}

Task<void> keep_two(Keeper& keeper, LoadSet set, std::vector<Result<>>& results) {
  for (const char* artifact : {"a", "b"}) {
    results.push_back(co_await keeper.keep(artifact, set, Bytes{}));
  }
  results.push_back(co_await keeper.keep("b", set, 4_KiB));  // in part it fits
  results.push_back(co_await keeper.keep("a", set, 16_KiB));
  EXPECT_TRUE(keeper.holds("a", set, 16_KiB));
  EXPECT_FALSE(keeper.holds("a", set, Bytes{}));
  LoadSet moved = set;
  moved[0].ranges[0].offset += 4096;
  EXPECT_FALSE(keeper.holds("a", moved, 16_KiB)) << "as many bytes, but others";
}

TEST_F(KeeperTest, AllPinsTogetherStayWithinTheBudget) {
  Keeper::World world{loop_, pool_, pool_, Files::real(), Processes::real(), HEARTH_KEEPER, 24_KiB};
  Keeper keeper{world, [] {}};
  std::vector<Result<>> results;
  run(keep_two(keeper, set_, results), keeper);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_TRUE(results[0]);
  ASSERT_FALSE(results[1]);
  EXPECT_EQ(results[1].error().code(), ErrorCode::kNoSpace);
  EXPECT_THAT(results[1].error().message(), ::testing::HasSubstr("pinned_mib"));
  EXPECT_TRUE(results[2]);
  EXPECT_TRUE(results[3]);
}

TEST_F(KeeperTest, TheBudgetIsHalfOfMemoryByDefault) { EXPECT_GT(keeper_.most(), 64_MiB); }

Task<void> die_and_keep_again(Keeper& keeper, LoadSet set, Notify& lost) {
  std::string artifact = "a";
  const Result<> first = co_await keeper.keep(artifact, set, Bytes{});
  EXPECT_TRUE(first) << first.error().message();
  ::kill(keeper.pid(), SIGKILL);
  co_await lost.wait();
  EXPECT_EQ(keeper.held(artifact), Bytes{});
  const Result<> second = co_await keeper.keep(artifact, set, Bytes{});
  EXPECT_TRUE(second) << second.error().message();
  EXPECT_EQ(keeper.held(artifact), size_of(set));
}

TEST_F(KeeperTest, ADeadOneIsToldOfAndReplaced) {
  run(die_and_keep_again(keeper_, set_, lost_));
  EXPECT_EQ(keeper_.deaths(), 1U);
}

Task<void> keep_missing(Keeper& keeper, Result<>& result) {
  std::string artifact = "a";
  LoadSet set{{"/nowhere/file", {{0, 4_KiB}}}};
  result = co_await keeper.keep(std::move(artifact), std::move(set), Bytes{});
}

TEST_F(KeeperTest, AMissingFileIsNotFound) {
  Result<> result;
  run(keep_missing(keeper_, result));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hearth::front

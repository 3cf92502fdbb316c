// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using testing::kInMemory;
using testing::prompt;

class RoomModules : public ::testing::Test, protected testing::RoomFixture {};

TEST_F(RoomModules, SaysHowMuchIsThere) {
  open();
  EXPECT_EQ(room().kept(use("a"), prompt(1, 256)).anywhere, 0);
  serve({.tokens = prompt(1, 128)});
  const auto kept = room().kept(use("a"), prompt(1, 256));
  EXPECT_EQ(kept.memory, 128);
  EXPECT_EQ(kept.anywhere, 128);
  EXPECT_EQ(room().kept(use("a", "others"), prompt(1, 256)).anywhere, 0);
  (void)wait(room().spill({"a", std::nullopt}));
  EXPECT_EQ(room().kept(use("a"), prompt(1, 256)).memory, 0);
  EXPECT_EQ(room().kept(use("a"), prompt(1, 256)).anywhere, 128);
}

TEST_F(RoomModules, TakesInWhatIsThereAlready) {
  limits_.memory = Bytes{40 * kInMemory.count()};
  open();
  serve({.tokens = prompt(9, 64)});
  serve({.tokens = prompt(1, 64 * 4)});
  EXPECT_EQ(room().keep_module(use("a"), prompt(1, 64 * 4), "house 1").memory, 64 * 4);
  for (int i = 2; i < 30; ++i) serve({.tokens = prompt(i, 64 * 8)});
  EXPECT_EQ(room().kept(use("a"), prompt(1, 64 * 4)).memory, 64 * 4);
}

TEST_F(RoomModules, LetsGoOfWhatIsNoModuleAnyMore) {
  limits_.memory = Bytes{40 * kInMemory.count()};
  limits_.disk = Bytes{};
  open();
  serve({.tokens = prompt(1, 64 * 4), .module = "house 1"});
  serve({.tokens = prompt(2, 64 * 4), .module = "tools 1"});
  room().keep_modules([](const std::string& module) { return module == "tools 1"; });
  for (int i = 3; i < 60; ++i) serve({.tokens = prompt(i, 64 * 8)});
  EXPECT_EQ(room().kept(use("a"), prompt(1, 64 * 4)).memory, 0);
  EXPECT_EQ(room().kept(use("a"), prompt(2, 64 * 4)).memory, 64 * 4);
}

TEST_F(RoomModules, KnowsThemAgainAfterARestart) {
  open();
  serve({.tokens = prompt(1, 64 * 4), .module = "house 1"});
  be_quiet();
  open();
  EXPECT_EQ(room().kept(use("a"), prompt(1, 64 * 4)).anywhere, 64 * 4);
  std::vector<std::string> met;
  room().keep_modules([&](const std::string& module) {
    met.push_back(module);
    return false;
  });
  EXPECT_EQ(met, std::vector<std::string>(4, "house 1"));
  met.clear();
  room().keep_modules([&](const std::string& module) {
    met.push_back(module);
    return false;
  });
  EXPECT_TRUE(met.empty());
}

}  // namespace
}  // namespace hearth::front

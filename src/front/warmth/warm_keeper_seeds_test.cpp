// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "front/warmth/testing/warm_house.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using House = testing::WarmHouse;
namespace fs = std::filesystem;

TEST(WarmKeeper, WhatIsNotWhollyRightIsSetAside) {
  House house;
  house.loop.run_for(30h);
  house.stop();
  std::ifstream file{house.path()};
  const std::string whole{std::istreambuf_iterator<char>{file}, {}};
  constexpr std::string_view kMarks = "0123456789-.,:e\"{}[] \xff";
  int whole_ones = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random{seed};
    std::string broken = whole.substr(0, seed % 3 == 0 ? random() % whole.size() : whole.size());
    for (int i = 0; i < 2 && !broken.empty(); ++i) {
      broken[random() % broken.size()] = kMarks[random() % kMarks.size()];
    }
    std::ofstream{house.path(), std::ios::trunc} << broken;
    house.start();
    const bool bad = fs::exists(house.path() + ".bad");
    if (!bad) ++whole_ones;
    EXPECT_TRUE(!bad || house.verdict().of == 0) << broken;
    fs::remove(house.path() + ".bad");
    house.stop();
  }
  EXPECT_LT(whole_ones, 75);
}

// Weeks in which anything may happen: the claim never says more than what was seen, nothing is held
// while a service is harmed for a while, and idle periods are counted over restarts and sleep.
class WarmSeeds : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(WarmSeeds, ClaimsNoMoreThanWasSeen) {
  std::mt19937_64 random{GetParam()};
  House house;
  house.may_probe = false;
  house.loop.run_for(1min);
  house.ask();
  int of = 0, met = 0;
  for (int i = 0; i < 60; ++i) {
    const Duration gap = std::chrono::minutes{random() % 1000};
    house.slow = random() % 5 == 0 ? 1s : 0s;
    switch (random() % 5) {
      case 0:
        house.clocks.sleep(gap);
        break;
      case 1:
        house.clocks.set_wall(std::chrono::hours{static_cast<int>(random() % 200) - 100});
        house.loop.run_for(gap);
        break;
      case 2:
        house.loop.run_for(gap / 2);
        house.restart();
        house.loop.run_for(gap - gap / 2 + 30s);
        break;
      default:
        house.loop.run_for(gap);
    }
    const bool ends = gap >= 8h;
    const bool in_time = house.time() <= 800ms;
    house.ask();
    of += ends;
    met += ends && in_time;
    ASSERT_EQ(house.verdict().of, of) << i;
    ASSERT_EQ(house.verdict().met, met) << i;
  }
  EXPECT_GE(of, 5);
  EXPECT_NE(house.verdict().state, WarmState::kProved);
}

INSTANTIATE_TEST_SUITE_P(Warmth, WarmSeeds, ::testing::Range(1U, 5U));

}  // namespace
}  // namespace hearth::front

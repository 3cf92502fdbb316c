// SPDX-License-Identifier: Apache-2.0
#include "front/levels/load_line.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/sim_event_loop.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

// Room for so many bytes; models in it, some of them busy.
class House {
 public:
  explicit House(std::uint64_t room) : room_{room} {}
  ~House() { leaves.clear(); }  // before models_ goes

  class Leave : public LoadLeave {
   public:
    Leave(House& house, std::string model) : house_{house}, model_{std::move(model)} {}
    ~Leave() override { house_.models_.erase(model_); }

   private:
    House& house_;
    std::string model_;
  };

  std::uint64_t used() const {
    std::uint64_t sum = 0;
    for (const auto& [name, bytes] : models_) sum += bytes;
    return sum;
  }

  Result<std::unique_ptr<LoadLeave>> reserve(const LoadWish& wish) {
    if (used() + wish.memory.count() > room_) return fail(ErrorCode::kNoSpace, "no room");
    models_[wish.artifact] = wish.memory.count();
    return std::make_unique<Leave>(*this, wish.artifact);
  }

  RoomPlan plan(const LoadWish& wish) {
    RoomPlan plan;
    std::uint64_t could = room_, freed = 0;
    for (const auto& [name, bytes] : models_) {
      if (pinned.contains(name)) could -= bytes;
    }
    plan.never = wish.memory.count() > could;
    plan.why = "it needs " + std::to_string(wish.memory.count());
    for (const auto& [name, bytes] : models_) {
      if (pinned.contains(name) || busy.contains(name)) continue;
      plan.moves.push_back({Move::What::kWeights, name, Bytes{bytes}});
      freed += bytes;
    }
    // What is not enough is not begun.
    if (used() - freed + wish.memory.count() > room_) plan.moves.clear();
    return plan;
  }

  LoadLine::World world() {
    return {
        loop,
        [this](const LoadWish& wish) { return reserve(wish); },
        [this](const LoadWish& wish) { return plan(wish); },
        [this](Move move, LoadWish wish) { return apply(this, std::move(move), wish.artifact); },
        [this](const std::string& artifact) { return priorities[artifact]; },
        [this](const std::string& artifact) -> std::optional<Duration> {
          const auto found = load_times.find(artifact);
          return found == load_times.end() ? std::nullopt : std::optional{found->second};
        }};
  }

  static Task<Result<>> apply(House* house, Move move, std::string whom) {
    house->log.push_back(move.artifact + " goes for " + whom);
    if (house->stuck.contains(move.artifact)) co_return fail(ErrorCode::kConflict, "it stays");
    house->leaves.erase(move.artifact);
    co_return Result<>{};
  }

  SimEventLoop loop;
  Log log;
  std::set<std::string> pinned, busy, stuck, unwanted;
  std::map<std::string, int> priorities;
  std::map<std::string, Duration> load_times;
  std::map<std::string, std::unique_ptr<LoadLeave>> leaves;

 private:
  std::uint64_t room_;
  std::map<std::string, std::uint64_t> models_;
};

Task<void> load(House& house, LoadLine& line, LoadWish wish) {
  std::function<bool()> wanted = [&house, name = wish.artifact] {
    return !house.unwanted.contains(name);
  };
  const std::string name = wish.artifact;
  auto leave = co_await line.enter(std::move(wish), std::move(wanted));
  if (!leave) {
    house.log.push_back(name + " " + std::string{name_of(leave.error().code())});
    co_return;
  }
  house.log.push_back(name + " in");
  house.leaves[name] = std::move(*leave);
}

struct Scene {
  explicit Scene(std::uint64_t room) : house{room}, line{house.world()} {}
  void ask(const std::string& name, std::uint64_t bytes, LoadFor whom = LoadFor::kRequest) {
    house.loop.spawn(load(house, line, LoadWish{name, name, whom, Bytes{bytes}, Bytes{}}));
    house.loop.run_ready();
  }
  void poke() {
    line.poke();
    house.loop.run_ready();
  }
  House house;
  LoadLine line;
};

TEST(LoadLine, WhatFitsGoesIn) {
  Scene scene{10};
  scene.ask("a", 4);
  scene.ask("b", 6);
  EXPECT_EQ(scene.house.log, (Log{"a in", "b in"}));
}

TEST(LoadLine, MakesRoomOneMoveAtATime) {
  Scene scene{10};
  scene.ask("a", 4);
  scene.ask("b", 4);
  scene.ask("c", 6);
  EXPECT_EQ(scene.house.log, (Log{"a in", "b in", "a goes for c", "c in"}));
}

TEST(LoadLine, WhatCanNeverFitIsRefusedAndNothingGoesForIt) {
  Scene scene{10};
  scene.ask("a", 4);
  scene.house.pinned = {"a"};
  scene.ask("big", 7);
  EXPECT_EQ(scene.house.log, (Log{"a in", "big no_space"}));
}

TEST(LoadLine, WaitsForWhoIsServed) {
  Scene scene{10};
  scene.ask("a", 8);
  scene.house.busy = {"a"};
  scene.ask("b", 8);
  EXPECT_EQ(scene.line.ahead_of("b"), 0);
  scene.house.busy.clear();
  scene.poke();
  EXPECT_EQ(scene.house.log, (Log{"a in", "a goes for b", "b in"}));
  EXPECT_EQ(scene.line.ahead_of("b"), std::nullopt);
}

TEST(LoadLine, FirstComeFirstServedWithinAPriority) {
  Scene scene{10};
  scene.ask("a", 8);
  scene.house.busy = {"a"};
  scene.house.priorities["vip"] = 5;
  scene.ask("b", 8);
  scene.ask("c", 8);
  scene.ask("vip", 8);
  EXPECT_EQ(scene.line.ahead_of("vip"), 0);
  EXPECT_EQ(scene.line.ahead_of("c"), 2);
  scene.house.busy.clear();
  for (int i = 0; i < 3; ++i) scene.poke();
  EXPECT_EQ(scene.house.log, (Log{"a in", "a goes for vip", "vip in", "vip goes for b", "b in",
                                  "b goes for c", "c in"}));
}

TEST(LoadLine, TellsWhereOneStandsAndWhenItsTurnMayCome) {
  Scene scene{10};
  scene.ask("a", 8);
  scene.house.busy = {"a"};
  scene.house.load_times = {{"b", 2s}, {"c", 3s}};
  std::vector<PlaceInLine> told;
  scene.ask("b", 8);
  LoadWish wish{"c", "c", LoadFor::kRequest, Bytes{8}, Bytes{}};
  wish.on_wait = [&told](const PlaceInLine& place) { told.push_back(place); };
  scene.house.loop.spawn(load(scene.house, scene.line, wish));
  scene.house.loop.run_ready();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().ahead, 1);
  EXPECT_EQ(told.back().earliest, Duration{5s});
  scene.house.load_times.erase("b");
  scene.poke();
  EXPECT_EQ(told.back().earliest, std::nullopt) << "nobody knows how long b takes";
  scene.house.unwanted = {"b"};
  scene.poke();
  EXPECT_EQ(told.back().ahead, 0);
  EXPECT_EQ(told.back().earliest, Duration{3s});
}

TEST(LoadLine, AFewThatFitOvertake) {
  Scene scene{10};
  scene.ask("a", 5);
  scene.house.busy = {"a"};
  scene.ask("big", 8);
  for (const char* name : {"s1", "s2", "s3", "s4", "s5"}) scene.ask(name, 1);
  EXPECT_EQ(scene.house.log, (Log{"a in", "s1 in", "s2 in", "s3 in", "s4 in"}));
  EXPECT_EQ(scene.line.waiting(), 2);
  scene.house.unwanted = {"big", "s5"};
  scene.poke();
}

TEST(LoadLine, WhoGivesUpLetsTheNextIn) {
  Scene scene{10};
  scene.ask("a", 8);
  scene.house.busy = {"a"};
  scene.ask("b", 9);
  scene.ask("c", 10);
  scene.house.unwanted = {"b"};
  scene.poke();
  EXPECT_EQ(scene.line.ahead_of("c"), 0);
  scene.house.busy.clear();
  scene.poke();
  EXPECT_EQ(scene.house.log, (Log{"a in", "b cancelled", "a goes for c", "c in"}));
}

TEST(LoadLine, AMoveThatFailsIsTriedAgainLater) {
  Scene scene{10};
  scene.ask("a", 8);
  scene.house.stuck = {"a"};
  scene.ask("b", 8);
  EXPECT_EQ(scene.house.log, (Log{"a in", "a goes for b"}));
  scene.house.stuck.clear();
  scene.house.loop.run_for(500ms);
  EXPECT_EQ(scene.house.log, (Log{"a in", "a goes for b", "a goes for b", "b in"}));
}

// What nobody waits for takes no room from anybody, and no place in line.
TEST(LoadLine, ForNobodyNothingMoves) {
  Scene scene{10};
  scene.ask("a", 8);
  scene.ask("b", 8, LoadFor::kNobody);
  EXPECT_EQ(scene.house.log, (Log{"a in", "b no_space"}));
  EXPECT_EQ(scene.line.waiting(), 0);
}

}  // namespace
}  // namespace hearth::front

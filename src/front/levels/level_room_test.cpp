// SPDX-License-Identifier: Apache-2.0
#include "front/levels/level_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/sim_event_loop.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Log = std::vector<std::string>;

Bytes mib(std::uint64_t n) { return Bytes{n << 20}; }

// A machine of 8 GiB, and models with so much of it.
class Machine {
 public:
  explicit Machine(Bytes limit) {
    std::filesystem::create_directories(root_ / "proc");
    set_available(mib(6000));
    LevelRoom::World world{
        .loop = loop,
        .clock = Clock::real(),
        .held = [this] { return held(); },
        .held_on_devices = [] { return std::vector<Held>{}; },
        .held_by_load = [this](const std::string& model) { return weights[model]; },
        .pinned = [this](const std::string& model) { return pins[model]; },
        .holdings = [this](LevelRoom::World::Busy) { return holdings(); },
        .move = [this](Move move) { return make(this, std::move(move)); },
        .priority = [](const std::string&) { return 0; },
        .name = [](const std::string& artifact) { return artifact + ":latest"; },
        .root = root_.path()};
    LevelRoom::Settings settings;
    settings.limit = limit;
    settings.reserve = mib(400);
    room = std::make_unique<LevelRoom>(std::move(world), settings);
  }

  void set_available(Bytes bytes) {
    std::ofstream{root_ / "proc/meminfo"}
        << "MemTotal: 8388608 kB\nMemAvailable: " << (bytes.count() >> 10U) << " kB\n";
  }

  std::vector<Held> held() const {
    std::vector<Held> all;
    for (const auto& [model, bytes] : weights) {
      if (bytes > Bytes{}) all.push_back({HeldFor::kWeights, model, "", bytes, false});
    }
    for (const auto& [model, bytes] : prefixes) {
      if (bytes > Bytes{}) all.push_back({HeldFor::kPrefix, model, "", bytes, false});
    }
    return all;
  }

  std::vector<Holding> holdings() const {
    std::vector<Holding> all;
    const auto add = [&](const std::string& model, HoldingKind kind, Bytes bytes, Duration back) {
      if (bytes == Bytes{}) return;
      Holding holding;
      holding.subject = model;
      holding.kind = kind;
      holding.held = bytes;
      if (pinned == model) holding.floor = bytes;
      holding.to_restore = back;
      holding.arrivals_per_hour = 1;
      holding.busy = std::ranges::count(busy, model) > 0;
      all.push_back(holding);
    };
    for (const auto& [model, bytes] : weights) add(model, HoldingKind::kWeights, bytes, 2s);
    for (const auto& [model, bytes] : prefixes) {
      add(model, HoldingKind::kPrefixBlocks, bytes, 1ms);
    }
    return all;
  }

  static Task<Result<Bytes>> make(Machine* machine, Move move) {
    const bool weights = move.what == Move::What::kWeights;
    machine->log.push_back((weights ? "weights of " : "prefixes of ") + move.artifact);
    if (!weights && machine->disk_is_full) co_return Bytes{};
    auto& from = weights ? machine->weights : machine->prefixes;
    if (weights) machine->gone();
    co_return std::exchange(from[move.artifact], Bytes{});
  }

  SimEventLoop loop;
  std::map<std::string, Bytes> weights, prefixes, pins;
  Log busy;
  std::string pinned;  // whose weights are
  bool disk_is_full = false;
  std::function<void()> gone = [] {};  // weights; their host gives its leave back then
  Log log;
  std::unique_ptr<LevelRoom> room;

 private:
  hearth::testing::TempDir root_;
};

struct Asked {
  Machine& machine;
  std::string model;
  Bytes bytes;
  std::unique_ptr<LoadLeave> leave = {};
  std::string error = {};
};

bool always() { return true; }

Task<void> ask(Asked& asked) {
  LoadWish wish{asked.model, asked.model, LoadFor::kRequest, asked.bytes, Bytes{}};
  auto leave = co_await asked.machine.room->gate().enter(std::move(wish), always);
  if (!leave) {
    asked.error = leave.error().message();
    co_return;
  }
  asked.leave = std::move(*leave);
}

Task<void> enter(LevelRoom& room, LoadWish wish,
                 std::optional<Result<std::unique_ptr<LoadLeave>>>& answer) {
  answer = co_await room.gate().enter(std::move(wish), always);
}

TEST(LevelRoom, PromisesUntilItIsHeld) {
  Machine machine{mib(1000)};
  Asked a{machine, "a", mib(600)};
  machine.loop.spawn(ask(a));
  machine.loop.run_ready();
  ASSERT_TRUE(a.leave);
  EXPECT_EQ(machine.room->free(), mib(400));
  machine.weights["a"] = mib(500);
  EXPECT_EQ(machine.room->free(), mib(400));
  a.leave.reset();
  EXPECT_EQ(machine.room->free(), mib(500));
}

TEST(LevelRoom, WhatIsRegrettedLeastGoesFirst) {
  Machine machine{mib(1000)};
  machine.weights = {{"big", mib(600)}, {"small", mib(200)}};
  machine.prefixes = {{"big", mib(100)}};
  Asked c{machine, "c", mib(150)};
  machine.loop.spawn(ask(c));
  machine.loop.run_ready();
  EXPECT_TRUE(c.leave);
  EXPECT_EQ(machine.log, (Log{"prefixes of big"}));
  EXPECT_EQ(machine.room->moves().moves().back().for_whom, "c");
}

// Prompt state that cannot be written gives nothing back: then weights go, and nothing spins.
TEST(LevelRoom, WhatGivesNothingIsPassedOver) {
  Machine machine{mib(1000)};
  machine.weights = {{"a", mib(600)}};
  machine.prefixes = {{"a", mib(300)}};
  machine.disk_is_full = true;
  Asked b{machine, "b", mib(300)};
  machine.loop.spawn(ask(b));
  machine.loop.run_for(2s);
  EXPECT_TRUE(b.leave);
  EXPECT_EQ(machine.log, (Log{"prefixes of a", "weights of a"}));
  EXPECT_EQ(machine.room->moves().total(), 1U);
}

TEST(LevelRoom, ARefusalHasTheNumbers) {
  Machine machine{mib(1000)};
  Asked big{machine, "big", mib(1200)};
  machine.loop.spawn(ask(big));
  machine.loop.run_ready();
  EXPECT_THAT(big.error, HasSubstr("1.2 GiB"));
  EXPECT_THAT(big.error, HasSubstr("1000.0 MiB"));
  EXPECT_TRUE(machine.log.empty());
}

// What an idle model was promised and has not taken comes free with it.
TEST(LevelRoom, AnIdleModelsPromiseGoesWithIt) {
  Machine machine{mib(1000)};
  Asked a{machine, "a", mib(600)};
  machine.loop.spawn(ask(a));
  machine.loop.run_ready();
  machine.weights["a"] = mib(300);
  machine.gone = [&a] { a.leave.reset(); };
  Asked b{machine, "b", mib(900)};
  machine.loop.spawn(ask(b));
  machine.loop.run_ready();
  EXPECT_EQ(machine.log, (Log{"weights of a"}));
  EXPECT_TRUE(b.leave);
}

// Beside a pinned model that has not taken all of its promise, too.
TEST(LevelRoom, WhatCannotFitBesideAPinIsRefusedAtOnce) {
  Machine machine{mib(1000)};
  Asked a{machine, "a", mib(600)};
  machine.loop.spawn(ask(a));
  machine.loop.run_ready();
  machine.weights["a"] = mib(300);
  machine.pinned = "a";
  Asked b{machine, "b", mib(700)};
  machine.loop.spawn(ask(b));
  machine.loop.run_ready();
  EXPECT_THAT(b.error, HasSubstr("does not fit"));
}

TEST(LevelRoom, LockedPagesAreNotAskedForTwice) {
  Machine machine{mib(1000)};
  machine.pins["a"] = mib(500);
  machine.weights["other"] = mib(500);
  machine.busy = {"other"};
  LoadWish wish{"a", "a", LoadFor::kNobody, mib(900), Bytes{}, mib(800)};
  std::optional<Result<std::unique_ptr<LoadLeave>>> answer;
  machine.loop.spawn(enter(*machine.room, std::move(wish), answer));
  machine.loop.run_ready();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(*answer) << answer->error().message();
}

// A neighbour takes memory: one level at a time until the reserve is free again.
TEST(LevelRoom, GivesBackWhatOthersWant) {
  Machine machine{mib(4000)};
  machine.weights = {{"a", mib(600)}, {"b", mib(600)}};
  machine.loop.spawn(machine.room->run());
  machine.loop.run_for(3s);
  EXPECT_TRUE(machine.log.empty());
  machine.set_available(mib(100));
  machine.loop.run_for(1s);
  EXPECT_GE(machine.log.size(), 1U);
  EXPECT_TRUE(machine.room->pressed_at());
  machine.set_available(mib(3000));
  machine.loop.run_for(1s);
  const std::size_t moved = machine.log.size();
  machine.loop.run_for(10s);
  EXPECT_EQ(machine.log.size(), moved);
  EXPECT_EQ(machine.room->moves().moves().front().cause, "pressure");
  machine.room->stop();
  machine.loop.run_for(2s);
}

TEST(LevelRoom, BusyModelsAreNotTakenFromUnderTheirReplies) {
  Machine machine{mib(4000)};
  machine.weights = {{"a", mib(600)}};
  machine.busy = {"a"};
  machine.set_available(mib(100));
  machine.loop.spawn(machine.room->run());
  machine.loop.run_for(5s);
  EXPECT_TRUE(machine.log.empty());
  machine.room->stop();
  machine.loop.run_for(2s);
}

}  // namespace
}  // namespace hearth::front

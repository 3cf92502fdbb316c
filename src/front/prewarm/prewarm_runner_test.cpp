// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/prewarm_runner.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <deque>
#include <random>

#include "base/json.h"
#include "front/prewarm/testing/sim_clocks.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using namespace hearth::literals;
using namespace std::chrono_literals;

constexpr std::uint64_t kRate = std::uint64_t{256} << 20;  // bytes a second

PrewarmRules rules() {
  PrewarmRules rules;
  rules.bytes_a_day = 24_GiB;
  return rules;
}

// A machine with models in memory, and a device that reads slowly enough to be interrupted.
class House {
 public:
  House() { restart(); }
  ~House() { stop(); }

  void restart() {
    stop();
    habits = std::make_unique<HabitFile>(Files::real(), directory.path() + "/arrivals.json",
                                         clocks.moments(), rules());
    habits->load();
    runner = std::make_unique<PrewarmRunner>(world());
    runner->start();
  }
  void stop() {
    if (!runner) return;
    loop.spawn(runner->stop());
    loop.run_for(5s);
    loop.spawn(habits->save(loop, pool));
    loop.run_ready();
    runner.reset();
  }

  PrewarmRunner::World world() {
    PrewarmRunner::World world{loop,
                               *habits,
                               [this] { return signs; },
                               [this] { return candidates(); },
                               [this] { return free(); },
                               [] { return double{kRate}; },
                               nullptr,
                               nullptr};
    world.warm = [this](std::string artifact, Bytes bytes,
                        std::shared_ptr<SharedProgress> progress) {
      return warm(this, std::move(artifact), bytes, std::move(progress));
    };
    world.release = [this](std::string artifact, Bytes bytes) {
      return release(this, std::move(artifact), bytes);
    };
    return world;
  }

  static Task<Result<Bytes>> warm(House* house, std::string artifact, Bytes bytes,
                                  std::shared_ptr<SharedProgress> progress) {
    EXPECT_EQ(why_not_prewarm(house->signs), "");
    EXPECT_FALSE(house->reading_) << "one at a time";
    house->reading_ = true;
    Bytes read{};
    while (read < bytes && !progress->cancelled()) {
      co_await house->loop.sleep(100ms);
      const Bytes piece = std::min(bytes - read, Bytes{kRate / 10});
      read += piece;
      house->resident[artifact] += piece;
      house->read_in_all += piece;
      progress->report(read, bytes);
    }
    house->reading_ = false;
    ++house->steps;
    house->last_read = artifact;
    if (house->broken) co_return fail(ErrorCode::kUnavailable, "the disk is gone");
    co_return read;
  }
  static Task<Result<>> release(House* house, std::string artifact, Bytes bytes) {
    co_await house->loop.yield();
    house->resident[artifact] = house->resident[artifact] - bytes;
    co_return Result<>{};
  }

  std::vector<PrewarmCandidate> candidates() const {
    std::vector<PrewarmCandidate> all;
    for (const auto& [artifact, size] : sizes) {
      const auto found = resident.find(artifact);
      const Bytes there = found == resident.end() ? Bytes{} : found->second;
      const Duration cold{
          static_cast<std::int64_t>(static_cast<double>(size.count()) / kRate * 1e9)};
      all.push_back({artifact, size, there, {}, 0, cold, false});
    }
    return all;
  }
  Bytes free() const {
    Bytes held{};
    for (const auto& [artifact, bytes] : resident) held += bytes;
    return memory - held;
  }

  // A request that takes so long; the model is resident with it.
  void ask(const std::string& artifact, Duration takes = 2s) {
    ++signs.requests;
    runner->request(artifact);
    loop.run_for(takes);
    runner->demand(sizes[artifact] - resident[artifact]);
    resident[artifact] = sizes[artifact];
    --signs.requests;
  }
  // So many days with a request at this hour, after which the model is given up.
  void teach(const std::string& artifact, int days) {
    for (int day = 0; day < days; ++day) {
      ask(artifact);
      resident[artifact] = {};
      runner->poke();
      loop.run_for(24h - 2s);
    }
  }
  boost::json::object json() const { return parse_json(runner->json())->as_object(); }
  boost::json::object json_of(const std::string& artifact) const {
    const boost::json::object all = json();
    for (const auto& model : all.at("models").as_array()) {
      if (model.at("artifact").as_string() == artifact) return model.as_object();
    }
    return {};
  }

  SimEventLoop loop;
  testing::SimClocks clocks{loop};
  Pool pool = Pool::inline_for_tests();
  hearth::testing::TempDir directory;
  std::unique_ptr<HabitFile> habits;
  std::unique_ptr<PrewarmRunner> runner;
  PrewarmSigns signs;
  std::map<std::string, Bytes> sizes{{"m", 1_GiB}};
  std::map<std::string, Bytes> resident;
  Bytes memory = 8_GiB;
  Bytes read_in_all{};
  int steps = 0;
  std::string last_read;
  bool broken = false;

 private:
  bool reading_ = false;
};

// Just before the hour at which it is asked for, it is there.
TEST(PrewarmRunner, ReadsAheadOfWhatHabitsForetell) {
  House house;
  house.teach("m", 10);
  house.runner->demand(2_GiB);
  const Bytes before = house.read_in_all;
  house.loop.run_for(24h - 5min);
  EXPECT_GT(house.read_in_all, before);
  EXPECT_EQ(house.resident["m"], 1_GiB);
  house.ask("m");
  const boost::json::object model = house.json_of("m");
  EXPECT_GT(model.at("used_bytes").to_number<double>(), 0);
  EXPECT_GT(model.at("saved_s").to_number<double>(), 0);
  EXPECT_TRUE(model.at("next").is_object());
}

TEST(PrewarmRunner, ReadsNothingThatIsNotEarned) {
  House house;
  house.resident["m"] = 1_GiB;
  house.teach("m", 1);
  for (int day = 0; day < 10; ++day) {
    house.resident["m"] = 1_GiB;
    house.teach("m", 1);
  }
  EXPECT_EQ(house.steps, 0) << "nobody ever waited";
}

TEST(PrewarmRunner, ReadsNothingOfWhatNobodyAskedFor) {
  House house;
  house.loop.run_for(48h);
  EXPECT_EQ(house.steps, 0);
  EXPECT_EQ(house.json().at("state"), "idle");
}

// A model that will be wanted soon, so that a look would read it.
struct Soon : House {
  Soon() {
    for (int i = 0; i < 40; ++i) {
      ask("m");
      loop.run_for(10min);
    }
    resident.clear();
    runner->demand(24_GiB);
    steps = 0;
    read_in_all = {};
  }
};

struct ForbiddenCase {
  const char* name;
  void (*forbid)(PrewarmSigns&);
  const char* state;
};
class PrewarmForbidden : public ::testing::TestWithParam<ForbiddenCase> {};

TEST_P(PrewarmForbidden, ReadsNothing) {
  Soon house;
  GetParam().forbid(house.signs);
  house.loop.run_for(4min);
  EXPECT_EQ(house.steps, 0);
  EXPECT_EQ(house.json().at("state"), GetParam().state);
  EXPECT_TRUE(house.json().at("why").is_string());
  house.signs = {};
  house.loop.run_for(1min);
  EXPECT_GT(house.steps, 0);
}

TEST_P(PrewarmForbidden, EndsWhatIsBeingRead) {
  Soon house;
  house.loop.run_for(PrewarmRunner::kLook + 300ms);
  ASSERT_TRUE(house.runner->reading());
  EXPECT_EQ(house.json().at("state"), "reading");
  EXPECT_EQ(house.json().at("model"), "m");
  PrewarmSigns forbidden;
  GetParam().forbid(forbidden);
  house.signs = forbidden;
  house.runner->poke();
  house.loop.run_for(100ms);
  EXPECT_FALSE(house.runner->reading());
  EXPECT_LT(house.read_in_all, 256_MiB);
  EXPECT_EQ(house.habits->prewarm().account("m").read, house.read_in_all);
}

INSTANTIATE_TEST_SUITE_P(
    Prewarm, PrewarmForbidden,
    ::testing::Values(
        ForbiddenCase{"Option", [](PrewarmSigns& s) { s.enabled = false; }, "off"},
        ForbiddenCase{"Layers", [](PrewarmSigns& s) { s.layers_on = false; }, "off"},
        ForbiddenCase{"Requests", [](PrewarmSigns& s) { s.requests = 1; }, "held"},
        ForbiddenCase{"Loading", [](PrewarmSigns& s) { s.loading = true; }, "held"},
        ForbiddenCase{"Protected", [](PrewarmSigns& s) { s.given_way = true; }, "held"},
        ForbiddenCase{"Pressure", [](PrewarmSigns& s) { s.since_pressure = 59s; }, "held"}),
    [](const auto& test) { return test.param.name; });

TEST(PrewarmRunner, NoticesWhatNobodyTellsIt) {
  Soon house;
  house.loop.run_for(PrewarmRunner::kLook + 100ms);
  ASSERT_TRUE(house.runner->reading());
  house.memory = 1_GiB;
  house.signs.since_pressure = 0s;
  house.loop.run_for(1100ms);
  EXPECT_FALSE(house.runner->reading());
}

// The request reads the rest itself, and finds what the step had brought in.
TEST(PrewarmRunner, ARequestEndsTheStepAndFindsItsBytes) {
  Soon house;
  house.loop.run_for(PrewarmRunner::kLook + 500ms);
  ASSERT_TRUE(house.runner->reading());
  house.ask("m");
  EXPECT_FALSE(house.runner->reading());
  const PrewarmAccount account = house.habits->prewarm().account("m");
  EXPECT_GT(account.read, Bytes{});
  EXPECT_EQ(account.used, account.read);
  EXPECT_EQ(house.habits->prewarm().unused("m"), Bytes{});
}

TEST(PrewarmRunner, ARequestForAnotherModelEndsItToo) {
  Soon house;
  house.sizes["other"] = 1_GiB;
  house.loop.run_for(PrewarmRunner::kLook + 500ms);
  ASSERT_TRUE(house.runner->reading());
  house.ask("other");
  EXPECT_FALSE(house.runner->reading());
  EXPECT_EQ(house.habits->prewarm().account("m").used, Bytes{});
  EXPECT_GT(house.habits->prewarm().unused("m"), Bytes{});
}

TEST(PrewarmRunner, WhatFailsIsLeftAloneForAWhile) {
  Soon house;
  house.broken = true;
  house.loop.run_for(1min);
  EXPECT_EQ(house.steps, 1);
  EXPECT_EQ(house.habits->prewarm().account("m").read, 256_MiB) << "what was read counts";
  house.broken = false;
  house.loop.run_for(PrewarmRunner::kAfterFailure + 1min);
  EXPECT_GT(house.steps, 1);
}

TEST(PrewarmRunner, TakesFromWhatIsLessLikely) {
  Soon house;
  house.sizes["dull"] = 4_GiB;
  house.resident["dull"] = 4_GiB;
  house.memory = 4_GiB;
  house.loop.run_for(2min);
  EXPECT_EQ(house.resident["m"], 1_GiB);
  EXPECT_EQ(house.resident["dull"], 3_GiB);
}

TEST(PrewarmRunner, StopsWithAStepUnderWay) {
  Soon house;
  house.loop.run_for(PrewarmRunner::kLook + 300ms);
  ASSERT_TRUE(house.runner->reading());
  house.restart();
  EXPECT_GT(house.habits->prewarm().account("m").read, Bytes{});
  EXPECT_LT(house.habits->prewarm().account("m").read, 256_MiB);
}

// Households in which all happens at any time: requests, pressure, restarts, clocks that are set,
// sleep. It is never read while that is forbidden (see House::warm), all bytes are in the account,
// and there are never more than the days allow.
class PrewarmSeeds : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(PrewarmSeeds, KeepsToItsBounds) {
  std::mt19937_64 random{GetParam()};
  House house;
  house.sizes = {{"a", 2_GiB}, {"b", 4_GiB}, {"c", 512_MiB}};
  house.memory = 5_GiB;
  const std::vector<std::string> names{"a", "b", "c"};
  Duration passed{};
  for (int i = 0; i < 400; ++i) {
    const Duration pause = std::chrono::seconds{random() % 900};
    house.signs.loading = random() % 20 == 0;
    house.signs.given_way = random() % 20 == 0;
    house.signs.since_pressure = random() % 10 == 0 ? std::optional<Duration>{10s} : std::nullopt;
    house.runner->poke();
    house.loop.run_for(pause);
    passed += pause;
    const std::string& name = names[random() % names.size()];
    switch (random() % 12) {
      case 0:
        house.restart();
        passed += 5s;
        break;
      case 1:
        house.clocks.set_wall(std::chrono::hours{static_cast<int>(random() % 100) - 50});
        break;
      case 2:
        house.clocks.sleep(5min);
        passed += 5min;
        break;
      case 3:
      case 4:
        house.resident[name] = {};
        break;
      default:
        if (house.free() + house.resident[name] < house.sizes[name]) house.resident.clear();
        house.ask(name);
        passed += 2s;
    }
  }
  PrewarmAccount sum;
  Bytes unused{};
  for (const std::string& name : names) {
    const PrewarmAccount account = house.habits->prewarm().account(name);
    sum.read += account.read;
    sum.used += account.used;
    sum.wasted += account.wasted;
    unused += house.habits->prewarm().unused(name);
  }
  EXPECT_EQ(sum.read, house.read_in_all);
  EXPECT_EQ(sum.read, sum.used + sum.wasted + unused);
  const double days = 1 + static_cast<double>(passed.count()) / (24 * 3.6e12);
  EXPECT_LE(static_cast<double>(sum.read.count()),
            days * static_cast<double>(rules().bytes_a_day.count()));
  EXPECT_GT(house.steps, 0);
}

INSTANTIATE_TEST_SUITE_P(Prewarm, PrewarmSeeds, ::testing::Range(1U, 7U));

}  // namespace
}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "policy/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "policy/arrivals_json.h"

namespace hearth {
namespace {

using namespace std::chrono_literals;
using std::chrono::hours;
using std::chrono::minutes;

// A Monday, 0:00.
constexpr std::int64_t kMonday = 1'700'438'400;

// Both clocks go on together; a model is watched each minute.
class Watched {
 public:
  Watched() { model.observe(now()); }
  Instant now() const { return {boot_, local_}; }
  void pass(Duration time) {
    for (; time > Duration{}; time -= std::min<Duration>(time, 1min)) {
      step(std::min<Duration>(time, 1min));
      model.observe(now());
    }
  }
  void until(int day, double hour) {
    const auto at = kMonday + day * 86400 + static_cast<std::int64_t>(hour * 3600);
    ASSERT_GE(at, local_);
    pass(std::chrono::seconds{at - local_});
  }
  // Without anybody watching.
  void sleep(Duration time) { step(time); }
  void set_wall(std::int64_t local) { local_ = local; }
  void reboot() { boot_ = 5s; }
  void ask() { model.note(now()); }

  ArrivalModel model;

 private:
  void step(Duration time) {
    boot_ += time;
    local_ += std::chrono::duration_cast<std::chrono::seconds>(time).count();
  }
  Duration boot_ = 100s;
  std::int64_t local_ = kMonday;
};

double watched_hours(const ArrivalModel& model) {
  double sum = 0;
  for (const auto& hour : model.notes().hours) sum += hour.watched;
  return sum;
}

TEST(Arrivals, NothingIsExpectedOfAModelThatNobodyAskedFor) {
  Watched house;
  house.pass(48h);
  EXPECT_EQ(house.model.probability(house.now(), 24h), 0);
  EXPECT_EQ(house.model.next(house.now()), std::nullopt);
  EXPECT_EQ(house.model.recent_per_hour(house.now()), 0);
  EXPECT_EQ(house.model.silence(house.now()), std::nullopt);
}

TEST(Arrivals, LearnTheHourOfTheDayFromAFewDays) {
  Watched house;
  for (int day = 0; day < 4; ++day) {
    house.until(day, 20.5);
    house.ask();
  }
  house.until(4, 20);
  EXPECT_GT(house.model.probability(house.now(), 1h), 0.35);
  house.until(5, 3);
  EXPECT_LT(house.model.probability(house.now(), 1h), 0.08);
}

TEST(Arrivals, LearnTheDayOfTheWeekFromAFewWeeks) {
  Watched house;
  for (int week = 0; week < 5; ++week) {
    for (int day = 0; day < 5; ++day) {
      house.until(7 * week + day, 9.5);
      house.ask();
    }
  }
  house.until(35 + 1, 9);  // a Tuesday
  const double workday = house.model.probability(house.now(), 1h);
  house.until(35 + 5, 9);  // a Saturday
  const double saturday = house.model.probability(house.now(), 1h);
  EXPECT_GT(workday, 0.4);
  EXPECT_LT(saturday, 0.2);
}

TEST(Arrivals, APauseWithinABoutIsShort) {
  Watched house;
  for (int i = 0; i < 40; ++i) {
    house.pass(50s);
    house.ask();
  }
  EXPECT_GT(house.model.probability(house.now(), 2min), 0.8);
  EXPECT_GT(house.model.recent_per_hour(house.now()), 20);
  house.pass(20min);
  EXPECT_LT(house.model.probability(house.now(), 2min), 0.2);
}

TEST(Arrivals, TheLongerTheHorizonTheLikelier) {
  Watched house;
  for (int i = 0; i < 30; ++i) {
    house.pass(minutes{7 + 23 * (i % 3)});
    house.ask();
  }
  double before = 0;
  for (int i = 0; i <= 48; ++i) {
    const double p = house.model.probability(house.now(), minutes{10 * i});
    EXPECT_GE(p, before);
    EXPECT_LE(p, 1);
    before = p;
  }
}

TEST(Arrivals, ATimerIsForecastByItsBeat) {
  Watched house;
  for (int i = 0; i < 10; ++i) {
    house.pass(11min);
    if (i % 2 == 0) house.ask();  // somebody else
    house.pass(49min + 5s * (i % 3 - 1));
    house.ask();
  }
  ASSERT_TRUE(house.model.beat());
  EXPECT_EQ(house.model.beat()->period, Duration{1h});
}

TEST(Arrivals, TheNextOneOfATimerIsKnownToMinutes) {
  Watched house;
  for (int i = 0; i < 24; ++i) {
    house.ask();
    house.pass(1h);
  }
  house.ask();
  house.pass(20min);
  const auto next = house.model.next(house.now());
  ASSERT_TRUE(next);
  EXPECT_LE(next->earliest, next->likely);
  EXPECT_LE(next->likely, next->latest);
  EXPECT_LT(next->latest, Duration{45min});
}

TEST(Arrivals, AWallClockThatJumpsMakesNoFloodAndNoNegativeTime) {
  Watched house;
  for (int i = 0; i < 20; ++i) {
    house.pass(30min);
    house.ask();
  }
  const double before = watched_hours(house.model);
  const double rate = house.model.recent_per_hour(house.now());
  for (const std::int64_t to : {std::int64_t{0}, kMonday * 3, -kMonday, kMonday}) {
    house.set_wall(to);
    house.pass(1min);
    EXPECT_GE(*house.model.silence(house.now()), Duration{});
    EXPECT_LE(*house.model.silence(house.now()), Duration{10min});
  }
  EXPECT_NEAR(watched_hours(house.model), before + 4.0 / 60, 1e-6);
  EXPECT_LE(house.model.recent_per_hour(house.now()), rate);
  EXPECT_GE(house.model.probability(house.now(), 1h), 0);
}

TEST(Arrivals, ABootClockThatGoesBackCountsAsNoTime) {
  Watched house;
  house.pass(1h);
  house.ask();
  house.reboot();
  house.ask();
  EXPECT_EQ(*house.model.silence(house.now()), Duration{});
  EXPECT_NEAR(watched_hours(house.model), 1, 1e-6);
}

TEST(Arrivals, SuspendTeachesNothingButCountsAsSilence) {
  Watched house;
  house.pass(1h);
  house.ask();
  house.sleep(8h);
  house.pass(1min);
  EXPECT_NEAR(watched_hours(house.model), 1, 1e-6);
  EXPECT_EQ(*house.model.silence(house.now()), Duration{8h + 1min});
}

TEST(Arrivals, OfOneHourOnlyTheLastWeeksCount) {
  Watched house;
  for (int day = 0; day < 7 * 20; ++day) {
    house.until(day, 8.5);
    if (day < 70) house.ask();
  }
  house.until(7 * 20, 8);
  // Ten weeks daily, ten weeks never.
  EXPECT_LT(house.model.probability(house.now(), 1h), 0.4);
}

TEST(Arrivals, WhatWasLearntOutlivesARestart) {
  Watched house;
  for (int day = 0; day < 5; ++day) {
    house.until(day, 20.5);
    house.ask();
  }
  const Arrivals kept{{"chat", house.model}};
  auto read = arrivals_from_json(to_json(kept));
  ASSERT_TRUE(read) << read.error().message();
  ArrivalModel& model = read->at("chat");
  EXPECT_NEAR(watched_hours(model), watched_hours(house.model), 1e-9);
  EXPECT_EQ(model.notes().recent, house.model.notes().recent);
  house.reboot();
  house.sleep(12h);
  EXPECT_NEAR(milliseconds_of(*model.silence(house.now())), 12 * 3.6e6, 1000);
  house.sleep(11h);
  model.observe(house.now());
  EXPECT_NEAR(milliseconds_of(*model.silence(house.now())), 23 * 3.6e6, 1000);
  EXPECT_NEAR(watched_hours(model), watched_hours(house.model), 1e-9);
  EXPECT_GT(model.probability(house.now(), 2h), 0.3);
}

TEST(ArrivalsJson, RefusesWhatItDoesNotWrite) {
  Watched house;
  house.pass(2h);
  house.ask();
  const std::string good = to_json(Arrivals{{"m", house.model}});
  ASSERT_TRUE(arrivals_from_json(good));
  const auto with = [&good](std::string_view what, std::string_view by) {
    std::string text = good;
    const auto at = text.find(what);
    EXPECT_NE(at, text.npos) << what;
    return text.replace(at, what.size(), by);
  };
  const std::vector<std::string> bad{"",
                                     "[]",
                                     "{}",
                                     good.substr(0, good.size() / 2),
                                     with("\"version\":1", "\"version\":2"),
                                     with("\"hours\":[[", "\"hours\":[[0,0],["),
                                     with("\"hours\":[[0", "\"hours\":[[-1"),
                                     with("\"rate_weight\":1", "\"rate_weight\":1e300,\"x\":1"),
                                     with("\"watched_ns\":7", "\"watched_ns\":-7"),
                                     with("\"watched_ns\":7", "\"watched_ns\":0,\"x\":7"),
                                     with("\"pauses\":[", "\"pauses\":[\"a\",")};
  for (const std::string& text : bad) {
    const auto read = arrivals_from_json(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace hearth

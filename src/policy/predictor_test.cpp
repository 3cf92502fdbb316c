// SPDX-License-Identifier: Apache-2.0
#include "policy/predictor.h"

#include <gtest/gtest.h>

#include "policy/predictor_json.h"

namespace hearth {
namespace {

using namespace literals;
using std::chrono::milliseconds;
using Worker = StartState::Worker;

double seconds_of(Duration time) { return milliseconds_of(time) / 1000; }

// 1 GB of weights, all of it in memory, a worker that waits.
StartState hollow() {
  StartState state;
  state.worker = Worker::kHollow;
  state.weights = state.load_set = Bytes{1'000'000'000};
  state.pages_known = true;
  state.layers = 20;
  return state;
}

StartState resident() {
  StartState state = hollow();
  state.worker = Worker::kResident;
  return state;
}

StartState cold() {
  StartState state = hollow();
  state.missing = state.load_set;
  state.read_bytes_per_s = 500e6;
  return state;
}

// ---- classes ----

struct ClassCase {
  const char* name;
  StartState state;
  StartClass expected;
};

StartState changed(StartState state, void (*change)(StartState&)) {
  change(state);
  return state;
}

class StartClasses : public testing::TestWithParam<ClassCase> {};

TEST_P(StartClasses, GoByTheColdestThing) {
  EXPECT_EQ(class_of(GetParam().state), GetParam().expected);
  EXPECT_EQ(start_class_named(name_of(GetParam().expected)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StartClasses,
    testing::Values(
        ClassCase{"Resident", resident(), StartClass::kWarm},
        ClassCase{"BesideOthers", changed(resident(), [](auto& s) { s.beside = 1; }),
                  StartClass::kBeside},
        ClassCase{"Loading", changed(cold(), [](auto& s) { s.worker = Worker::kLoading; }),
                  StartClass::kLoading},
        ClassCase{"Hollow", hollow(), StartClass::kLoad},
        ClassCase{"ALittleMissing", changed(hollow(), [](auto& s) { s.missing = 9_MiB; }),
                  StartClass::kLoad},
        ClassCase{"MuchMissing", changed(hollow(), [](auto& s) { s.missing = 11_MiB; }),
                  StartClass::kStorage},
        ClassCase{"NobodyLooked", changed(hollow(), [](auto& s) { s.pages_known = false; }),
                  StartClass::kStorage},
        ClassCase{"NoWorker", changed(hollow(), [](auto& s) { s.worker = Worker::kNone; }),
                  StartClass::kSpawn},
        ClassCase{"NoWorkerNoPages", changed(cold(), [](auto& s) { s.worker = Worker::kNone; }),
                  StartClass::kStorage}),
    [](const auto& test) { return test.param.name; });

// ---- parts ----

struct PartsCase {
  const char* name;
  StartParts parts;
  double prefill;
  double expected;
};

class Parts : public testing::TestWithParam<PartsCase> {};

TEST_P(Parts, AddUpWithTheirOverlap) {
  EXPECT_NEAR(GetParam().parts.seconds(GetParam().prefill), GetParam().expected, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Parts,
    testing::Values(PartsCase{"ReadOnly", {.read = 2, .layers = 10}, 0, 2},
                    PartsCase{"PrefillOnly", {.layers = 10}, 3, 3},
                    PartsCase{"ReadHidesPrefill", {.read = 2, .layers = 10}, 1, 2.1},
                    PartsCase{"PrefillHidesRead", {.read = 1, .layers = 10}, 2, 2.1},
                    PartsCase{"OneAfterTheOther", {.read = 1, .layers = 1}, 2, 3},
                    PartsCase{"RepackIsArithmetic", {.read = 1, .repack = 1, .layers = 10}, 1, 2.1},
                    PartsCase{"WhatNothingHides",
                              {.spawn = 0.1, .setup = 0.2, .read = 1, .overhead = 0.3, .layers = 4},
                              2,
                              2.85},
                    PartsCase{"Beside", {.layers = 1, .beside = 2}, 1, 2}),
    [](const auto& test) { return test.param.name; });

// ---- forecasts ----

TEST(Predictor, GuessesAndSaysSo) {
  const Predictor predictor;
  for (const StartState& state : {StartState{}, resident(), hollow(), cold()}) {
    const Forecast forecast = predictor.outlook("m", state).at(64);
    EXPECT_FALSE(forecast.known);
    EXPECT_GT(forecast.time, Duration::zero());
    EXPECT_LE(forecast.low * 2, forecast.time);
    EXPECT_GE(forecast.high, forecast.time * 2);
  }
}

TEST(Predictor, ColderIsNeverForecastToBeFaster) {
  Predictor predictor;
  predictor.note_prefill("m", 1_GiB, {64, 0.4});
  const auto of = [&](const StartState& state) {
    return predictor.outlook("m", state).at(64).time;
  };
  const StartState none = changed(hollow(), [](auto& s) { s.worker = Worker::kNone; });
  EXPECT_LT(of(resident()), of(hollow()));
  EXPECT_LT(of(hollow()), of(none));
  EXPECT_LT(of(hollow()), of(cold()));
  const StartState half =
      changed(cold(), [](auto& s) { s.missing = Bytes{s.load_set.count() / 2}; });
  EXPECT_LT(of(half), of(cold()));
}

TEST(Predictor, OneStartIsEnoughToKnowTheNext) {
  Predictor predictor;
  predictor.note_prefill("m", hollow().weights, {64, 0.4});
  const Outlook before = predictor.outlook("m", hollow());
  EXPECT_FALSE(before.known);
  predictor.note_start(before, 64, milliseconds{900});
  const Forecast after = predictor.outlook("m", hollow()).at(64);
  EXPECT_TRUE(after.known);
  EXPECT_NEAR(seconds_of(after.time), 0.9, 0.01);
  // What was learnt is the set-up, not a factor: a longer prompt adds only its own time.
  predictor.note_prefill("m", hollow().weights, {640, 4.0});
  EXPECT_NEAR(seconds_of(predictor.outlook("m", hollow()).at(640).time), 4.5, 0.3);
}

TEST(Predictor, ReadsAtTheMeasuredRate) {
  Predictor predictor;
  predictor.note_prefill("m", cold().weights, {64, 0.4});
  EXPECT_NEAR(seconds_of(predictor.outlook("m", cold()).at(64).time), 2.1, 0.1);
}

TEST(Predictor, ALoadUnderWayTakesWhatRemains) {
  Predictor predictor;
  predictor.note_prefill("m", cold().weights, {64, 0.4});
  StartState state = cold();
  state.worker = Worker::kLoading;
  state.load_left = milliseconds{1500};
  EXPECT_NEAR(seconds_of(predictor.outlook("m", state).at(64).time), 1.52, 0.05);
  EXPECT_NEAR(seconds_of(predictor.outlook("m", state).at(0).time), 1.5, 0.05);
}

TEST(Predictor, AnotherModelLearnsFromTheFirst) {
  Predictor predictor;
  StartState large = hollow();
  large.weights = large.load_set = Bytes{3'000'000'000};
  predictor.note_prefill("small", hollow().weights, {64, 0.4});
  predictor.note_start(predictor.outlook("small", hollow()), 64, milliseconds{500});
  const Forecast forecast = predictor.outlook("large", large).at(64);
  EXPECT_TRUE(forecast.known);
  EXPECT_GT(seconds_of(forecast.time), 1.2);
  EXPECT_LT(seconds_of(forecast.time), 1.6);
}

TEST(Predictor, OneWildStartMovesLittle) {
  Predictor predictor;
  predictor.note_prefill("m", hollow().weights, {64, 0.4});
  for (int i = 0; i < 6; ++i) {
    predictor.note_start(predictor.outlook("m", hollow()), 64, milliseconds{600});
  }
  const Duration before = predictor.outlook("m", hollow()).at(64).time;
  predictor.note_start(predictor.outlook("m", hollow()), 64, milliseconds{60'000});
  const Duration after = predictor.outlook("m", hollow()).at(64).time;
  EXPECT_NEAR(seconds_of(after), seconds_of(before), 0.05);
}

TEST(Predictor, TheIntervalIsWhatForecastsLayOff) {
  Predictor predictor;
  predictor.note_prefill("m", resident().weights, {64, 0.4});
  for (int i = 0; i < 20; ++i) {
    predictor.note_start(predictor.outlook("m", resident()), 64, milliseconds{400 + 4 * (i % 3)});
  }
  const Forecast steady = predictor.outlook("m", resident()).at(64);
  EXPECT_LT(seconds_of(steady.high - steady.low), 0.12 * seconds_of(steady.time));
  EXPECT_LE(steady.low, steady.time);
  EXPECT_GE(steady.high, steady.time);
}

TEST(Predictor, WhoWaitsIsAddedButNotLearnt) {
  Predictor predictor;
  predictor.note_prefill("m", resident().weights, {64, 0.4});
  Outlook outlook = predictor.outlook("m", resident());
  outlook.ahead = milliseconds{2000};
  EXPECT_EQ(outlook.at(64).time, outlook.alone(64).time + milliseconds{2000});
  const double error = predictor.note_start(outlook, 64, outlook.alone(64).time);
  EXPECT_NEAR(error, 0, 1e-6);
}

TEST(Predictor, KeepsABoundedPast) {
  Predictor predictor;
  for (std::size_t i = 0; i < Predictor::kMaxModels + 10; ++i) {
    const std::string model = "m" + std::to_string(i);
    for (std::size_t n = 0; n < Predictor::kKept + 5; ++n) {
      predictor.note_start(predictor.outlook(model, resident()), 8, milliseconds{100});
    }
  }
  EXPECT_EQ(predictor.models().size(), Predictor::kMaxModels);
  EXPECT_EQ(predictor.errors("m73").size(), Predictor::kKept);
  EXPECT_TRUE(predictor.errors("m0").empty());
}

TEST(Predictor, RepackIsLearnt) {
  Predictor predictor;
  predictor.note_repack(Bytes{2'000'000'000}, milliseconds{1000});
  StartState state = hollow();
  state.repack = StartState::Repack::kBuild;
  state.repacked = Bytes{1'000'000'000};
  EXPECT_NEAR(predictor.outlook("m", state).parts.repack, 0.5, 1e-9);
  state.repack = StartState::Repack::kStored;
  EXPECT_EQ(predictor.outlook("m", state).parts.repack, 0);
}

// ---- what is kept ----

Predictor well_read() {
  Predictor predictor;
  predictor.note_prefill("m", 1_GiB, {64, 0.4});
  predictor.note_spawn("m", 32000, milliseconds{110});
  predictor.note_service("m", milliseconds{2500});
  predictor.note_repack(1_GiB, milliseconds{700});
  predictor.note_start(predictor.outlook("m", cold()), 64, milliseconds{2600});
  predictor.note_start(predictor.outlook("m", hollow()), 64, milliseconds{600});
  return predictor;
}

TEST(PredictorJson, ForecastsTheSameAfterARestart) {
  const Predictor before = well_read();
  const Result<Predictor> after = predictor_from_json(to_json(before));
  ASSERT_TRUE(after) << after.error().message();
  for (const StartState& state : {resident(), hollow(), cold(), StartState{}}) {
    EXPECT_EQ(after->outlook("m", state).at(99).time, before.outlook("m", state).at(99).time);
  }
  EXPECT_EQ(after->service("m"), before.service("m"));
  EXPECT_EQ(after->errors("m"), before.errors("m"));
  EXPECT_EQ(after->version(), before.models().at("m").noted);
}

TEST(PredictorJson, WhatItDidNotWriteIsRefused) {
  const std::string good = to_json(well_read());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(predictor_from_json(good.substr(0, length)));
  }
  for (const char* text : {"", "[]", "{}", R"({"version":2,"models":{},"repack_rates":[]})",
                           R"({"version":1,"models":{"m":3},"repack_rates":[]})",
                           R"({"version":1,"models":{},"repack_rates":[-1]})",
                           R"({"version":1,"models":{},"repack_rates":[1e999]})"}) {
    EXPECT_FALSE(predictor_from_json(text)) << text;
  }
}

TEST(PredictorJson, NoDigitMakesItCrashOrTellNonsense) {
  const std::string good = to_json(well_read());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char other : {'9', '-', '"', ']', 'e', '\0'}) {
      std::string text = good;
      text[i] = other;
      const Result<Predictor> read = predictor_from_json(text);
      if (!read) continue;
      const Forecast forecast = read->outlook("m", cold()).at(64);
      EXPECT_GE(forecast.low, Duration::zero());
      EXPECT_GE(forecast.time, forecast.low);
      EXPECT_GE(forecast.high, forecast.time);
    }
  }
}

}  // namespace
}  // namespace hearth

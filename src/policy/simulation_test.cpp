// SPDX-License-Identifier: Apache-2.0
//
// A made-up machine with noise: models of three sizes start in every class, with prompts of all
// lengths, and each forecast is held to what then came.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "policy/predictor.h"

namespace hearth {
namespace {

using Worker = StartState::Worker;

struct SimModel {
  std::string name;
  double bytes;
  double repacked;
  int vocabulary;
  int layers;
};

// Deliberately of another shape than the predictor's own: attention grows with the square of the
// prompt, page tables cost by the page, devices have good and bad moments.
class Machine {
 public:
  explicit Machine(unsigned seed) : random_{seed} {
    speed_ = std::exp(std::uniform_real_distribution{-1.0, 1.0}(random_));
    device_ = 1.2e9 * std::exp(std::uniform_real_distribution{-2.5, 0.5}(random_));
  }

  double prefill(const SimModel& model, int tokens) {
    const double n = tokens;
    return noisy(0.06) * speed_ * model.bytes * (6e-11 + 1.1e-11 * n + 1.5e-15 * n * n);
  }
  double read(double bytes) { return bytes * noisy(0.1) / device_; }
  double setup(const SimModel& model) { return noisy(0.1) * speed_ * (0.04 + model.bytes * 4e-11); }
  double spawn(const SimModel& model) {
    return noisy(0.1) * speed_ * (0.04 + 1.1e-6 * model.vocabulary);
  }
  double repack(double bytes) { return noisy(0.08) * speed_ * bytes / 1.6e9; }
  double overhead() { return noisy(0.3) * 0.006; }
  double device() const { return device_; }
  int tokens() {
    return static_cast<int>(std::exp(std::uniform_real_distribution{1.5, 6.5}(random_)));
  }
  double share() { return std::uniform_real_distribution{0.05, 1.0}(random_); }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  // Now and then something else gets in the way.
  double noisy(double sigma) {
    const double usual = std::exp(std::normal_distribution{0.0, sigma}(random_));
    return random_() % 20 == 0 ? 1.6 * usual : usual;
  }

  std::mt19937 random_;
  double speed_ = 1;
  double device_ = 1;
};

const std::array<SimModel, 3> kModels{{{"small", 0.25e9, 0.01e9, 262'000, 18},
                                       {"middle", 0.65e9, 0.55e9, 32'000, 22},
                                       {"large", 3.4e9, 0, 32'000, 28}}};

// One machine and one predictor; the rate of the device is measured as by the pages layer.
class Household {
 public:
  explicit Household(unsigned seed) : machine_{seed} {}

  // The error of one start's forecast.
  double start(const SimModel& model, StartClass start_class) {
    StartState state = state_of(model, start_class);
    const Outlook outlook = predictor_.outlook(model.name, state);
    EXPECT_EQ(outlook.start_class, start_class);
    const int tokens = machine_.tokens();
    const double seconds = run(model, state, tokens);
    const Forecast forecast = outlook.at(tokens);
    inside_ += forecast.known && milliseconds_of(forecast.low) <= seconds * 1000 &&
               milliseconds_of(forecast.high) >= seconds * 1000;
    known_ += forecast.known;
    const Duration time{static_cast<std::int64_t>(seconds * 1e9)};
    return std::abs(predictor_.note_start(outlook, tokens, time));
  }
  double share_inside() const { return static_cast<double>(inside_) / known_; }

 private:
  StartState state_of(const SimModel& model, StartClass start_class) {
    StartState state;
    state.weights = state.load_set = Bytes{static_cast<std::uint64_t>(model.bytes)};
    state.pages_known = true;
    state.layers = model.layers;
    state.vocabulary = model.vocabulary;
    if (rate_ > 0) state.read_bytes_per_s = rate_;
    if (start_class == StartClass::kStorage) {
      state.missing = Bytes{static_cast<std::uint64_t>(model.bytes * machine_.share())};
    }
    state.worker = start_class == StartClass::kWarm    ? Worker::kResident
                   : start_class == StartClass::kSpawn ? Worker::kNone
                                                       : Worker::kHollow;
    const bool builds = start_class != StartClass::kWarm && !stored_ && model.repacked > 0;
    state.repack = builds ? StartState::Repack::kBuild : StartState::Repack::kNone;
    if (builds) state.repacked = Bytes{static_cast<std::uint64_t>(model.repacked)};
    stored_ = machine_.pick(3) != 0;
    return state;
  }

  double run(const SimModel& model, const StartState& state, int tokens) {
    const double prefill = machine_.prefill(model, tokens);
    double seconds = machine_.overhead();
    if (state.worker == Worker::kResident) {
      predictor_.note_prefill(model.name, state.weights, {tokens, prefill});
      return seconds + prefill;
    }
    if (state.worker == Worker::kNone) {
      const double spawn = machine_.spawn(model);
      seconds += spawn;
      predictor_.note_spawn(model.name, model.vocabulary,
                            Duration{static_cast<std::int64_t>(spawn * 1e9)});
    }
    const double read = machine_.read(static_cast<double>(state.missing.count()));
    if (read > 0) {
      const double measured = static_cast<double>(state.missing.count()) / read;
      rate_ = rate_ > 0 ? rate_ + 0.3 * (measured - rate_) : measured;
    }
    double repack = 0;
    if (state.repack == StartState::Repack::kBuild) {
      repack = machine_.repack(model.repacked);
      predictor_.note_repack(state.repacked, Duration{static_cast<std::int64_t>(repack * 1e9)});
    }
    const double compute = prefill + repack;
    return seconds + machine_.setup(model) + std::max(read, compute) +
           std::min(read, compute) / model.layers;
  }

  Machine machine_;
  Predictor predictor_;
  double rate_ = 0;
  bool stored_ = false;
  int inside_ = 0;
  int known_ = 0;
};

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

class Simulation : public testing::TestWithParam<unsigned> {};

TEST_P(Simulation, ForecastsAreGoodAfterAFewStarts) {
  constexpr std::array kClasses{StartClass::kWarm, StartClass::kLoad, StartClass::kStorage,
                                StartClass::kSpawn};
  Household household{GetParam()};
  for (int round = 0; round < 3; ++round) {
    for (const SimModel& model : kModels) {
      for (const StartClass start_class : kClasses) household.start(model, start_class);
    }
  }
  for (const StartClass start_class : kClasses) {
    std::vector<double> errors;
    for (int i = 0; i < 45; ++i) {
      errors.push_back(household.start(kModels[static_cast<std::size_t>(i) % 3], start_class));
    }
    EXPECT_LE(median_of(errors), 0.2) << name_of(start_class);
  }
  EXPECT_GE(household.share_inside(), 0.6);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Simulation, testing::Range(1U, 13U));

}  // namespace
}  // namespace hearth

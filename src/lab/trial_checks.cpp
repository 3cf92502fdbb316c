// SPDX-License-Identifier: Apache-2.0
#include "lab/trial_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "lab/statistics/statistics.h"

namespace hearth::lab {
namespace {

// The kernel counts processors' time in hundredths of a second: what is less is no figure.
constexpr double kLeastDisturbance_s = 0.03;
// A virtual disk has a cache of its own, and the measurement is short.
constexpr double kRateSlack = 1.5;
constexpr double kFromMemory = 100e9;  // bytes per second: more than any device
constexpr double kLeastMissing = 16e6;
// Not all of a file need be read: some of it may have been compiled, or is never used.
constexpr double kLeastRead = 0.1;
constexpr std::size_t kFewRates = 3;

double seconds_of(const Trial& trial) {
  return (trial.timing.start_ms.value_or(0) + trial.timing.total_ms) / 1000;
}

}  // namespace

std::optional<std::string> disturbance(const Trial& trial, double disturbed_cores) {
  const double cores = trial.effects.outside_cores;
  if (cores > disturbed_cores && cores * seconds_of(trial) > kLeastDisturbance_s) {
    return fmt::format("busy: others used {:.2f} processors", cores);
  }
  if (trial.effects.swapped > Bytes{}) {
    return fmt::format("busy: {} KiB were swapped", trial.effects.swapped.count() >> 10U);
  }
  return std::nullopt;
}

std::optional<std::string> impossibility(const StateSpec& spec, const Trial& trial,
                                         std::optional<double> fastest) {
  const double seconds = seconds_of(trial);
  if (!trial.effects.bytes_read || seconds <= 0) return std::nullopt;
  const auto read = static_cast<double>(trial.effects.bytes_read->count());
  const double limit = fastest ? *fastest * kRateSlack : kFromMemory;
  if (read > kLeastMissing && read / seconds > limit) {
    return fmt::format("impossible: {:.0f} MB were read at {:.2f} GB/s, the device gives {:.2f}",
                       read / 1e6, read / seconds / 1e9, limit / kRateSlack / 1e9);
  }
  const StateProof& before = trial.before;
  const bool has_to_read = spec.weights == StateSpec::Weights::kUnloaded && spec.pages &&
                           !spec.model_removed && before.pages && before.load_set;
  if (!has_to_read) return std::nullopt;
  const double missing = (1 - *before.pages) * static_cast<double>(before.load_set->count());
  if (missing < kLeastMissing || read >= kLeastRead * missing) return std::nullopt;
  return fmt::format("impossible: {:.0f} MB were missing and {:.1f} MB were read", missing / 1e6,
                     read / 1e6);
}

std::optional<std::string> control_off(double rate, std::vector<double> rates, double tolerance) {
  if (rates.size() < kFewRates) return std::nullopt;
  const double usual = quantile(std::move(rates), 0.5).value_or(0);
  if (usual <= 0 || std::abs(rate / usual - 1) <= tolerance) return std::nullopt;
  return fmt::format("control: {:.1f} tokens/s where {:.1f} are usual", rate, usual);
}

}  // namespace hearth::lab

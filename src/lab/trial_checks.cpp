// SPDX-License-Identifier: Apache-2.0
#include "lab/trial_checks.h"

#include <fmt/format.h>

#include <algorithm>
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
constexpr double kPauseSlack = 0.1, kPauseSlack_s = 5;

// A limit is kept on average; the first pieces come at once.
constexpr double kLimitSlack = 1.3;

double seconds_of(const Trial& trial) {
  return (trial.timing.start_ms.value_or(0) + trial.timing.total_ms) / 1000;
}

double reading_seconds(const StateSpec& spec, const Trial& trial) {
  const auto stage = trial.timing.stages_ms.find("read");
  // Programs are read in other stages.
  if (!spec.programs_dropped && stage != trial.timing.stages_ms.end() && stage->second > 0) {
    return stage->second / 1000;
  }
  const std::optional<double> wait = trial.timing.wait_ms();
  return wait && *wait > 0 ? *wait / 1000 : seconds_of(trial);
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
  const double seconds = reading_seconds(spec, trial);
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

std::optional<std::string> too_fast_for_its_limit(const StateSpec& spec, const Trial& trial) {
  const auto limit = trial.extra.find("read_limit_mb_s");
  if (limit == trial.extra.end()) return std::nullopt;
  const double seconds = reading_seconds(spec, trial);
  if (!trial.effects.bytes_read || seconds <= 0) {
    return "state: whether the limit on reading held could not be observed";
  }
  const double read = static_cast<double>(trial.effects.bytes_read->count()) / 1e6;
  if (read * 1e6 < kLeastMissing || read / seconds <= kLimitSlack * limit->second) {
    return std::nullopt;
  }
  return fmt::format(
      "state: {:.0f} MB were read at {:.0f} MB/s, so the limit of {:.0f} was not kept", read,
      read / seconds, limit->second);
}

std::optional<std::string> idleness(const Trial& trial) {
  const auto done = trial.extra.find("competitor_bytes");
  if (done == trial.extra.end() || done->second > 0) return std::nullopt;
  return "state: the competing work did nothing";
}

std::optional<std::string> shortness(const Question& question, const Answer& answer) {
  if (question.new_tokens <= 0) return std::nullopt;
  if (answer.text.empty()) return "text: the reply was empty";
  const int came = answer.timing.generated_tokens;
  if (!answer.goes_on_at_end || came >= question.new_tokens) return std::nullopt;
  return fmt::format("text: only {} of {} tokens came", came, question.new_tokens);
}

std::optional<std::string> control_off(double rate, std::vector<double> rates, double tolerance) {
  if (rates.size() < kFewRates) return std::nullopt;
  const double usual = quantile(std::move(rates), 0.5).value_or(0);
  if (usual <= 0 || std::abs(rate / usual - 1) <= tolerance) return std::nullopt;
  return fmt::format("control: {:.1f} tokens/s where {:.1f} are usual", rate, usual);
}

std::optional<std::string> overlong(double waited_s, std::chrono::minutes pause) {
  const double wanted_s = std::chrono::duration<double>{pause}.count();
  if (waited_s <= wanted_s + std::max(kPauseSlack * wanted_s, kPauseSlack_s)) return std::nullopt;
  return fmt::format("pause: it was {:.0f} s long and was to be {:.0f} s", waited_s, wanted_s);
}

}  // namespace hearth::lab

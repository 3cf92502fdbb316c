// SPDX-License-Identifier: Apache-2.0
#include "policy/prewarm.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hearth {
namespace {

constexpr double kDay = 24 * 3.6e12;  // nanoseconds

double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }
constexpr Bytes smaller(Bytes a, Bytes b) { return a < b ? a : b; }

// Seconds of waiting that one of its bytes in memory is expected to save within the horizon.
double worth(const PrewarmCandidate& candidate) {
  if (candidate.size == Bytes{}) return 0;
  return std::clamp(candidate.probability, 0.0, 1.0) * milliseconds_of(candidate.cold) / 1000 /
         count_of(candidate.size);
}

using Ranked = std::vector<const PrewarmCandidate*>;  // least worth first

Ranked ranked(std::span<const PrewarmCandidate> candidates) {
  Ranked order;
  for (const PrewarmCandidate& candidate : candidates) order.push_back(&candidate);
  // By place in the list where worth is the same, so that the answer is, too.
  std::ranges::sort(order, [](const PrewarmCandidate* a, const PrewarmCandidate* b) {
    return std::pair{worth(*a), a} < std::pair{worth(*b), b};
  });
  return order;
}

// What can be read for `model` if whatever is worth less by `gain` per byte gives way.
PrewarmStep step_for(const PrewarmCandidate& model, const Ranked& order, Bytes free, Bytes most,
                     double gain) {
  const Bytes wanted = smaller(model.size - model.resident, most);
  PrewarmStep step{model.model, smaller(wanted, free), {}};
  for (const PrewarmCandidate* other : order) {
    if (step.bytes >= wanted || worth(model) - worth(*other) < gain) break;
    if (other == &model || other->busy) continue;
    const Bytes taken = smaller(wanted - step.bytes, other->resident - other->floor);
    if (taken == Bytes{}) continue;
    step.releases.push_back({other->model, taken});
    step.bytes += taken;
  }
  return step;
}

}  // namespace

std::optional<PrewarmStep> Prewarmer::next(std::span<const PrewarmCandidate> candidates, Bytes free,
                                           double read_bytes_per_s, Duration now) {
  if (!(read_bytes_per_s > 0)) return std::nullopt;
  if (!filled_at_) {
    filled_at_ = now;
    allowance_ = count_of(rules_.bytes_a_day);
  }
  const Bytes most = smaller(rules_.step, allowance(now));
  const double gain = rules_.least_gain / read_bytes_per_s;
  const Ranked order = ranked(candidates);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const PrewarmCandidate& model = **at;
    if (worth(model) < gain) break;
    if (model.busy || ledger_.rests(model.model, now)) continue;
    PrewarmStep step = step_for(model, order, free, most, gain);
    const Bytes least = smaller(rules_.least_step, model.size - model.resident);
    if (step.bytes > Bytes{} && step.bytes >= least) return step;
  }
  return std::nullopt;
}

void Prewarmer::note_read(const std::string& model, Bytes bytes, Duration now) {
  allowance_ = count_of(left_of_day(now) - bytes);
  filled_at_ = now;
  earned_ = std::max(0.0, earned_ - count_of(bytes));
  ledger_.note_read(model, bytes, now);
}

void Prewarmer::note_used(const std::string& model, double seconds_per_byte, Duration now) {
  earn(ledger_.unused(model));
  ledger_.note_used(model, seconds_per_byte, now);
}

void Prewarmer::note_resident(const std::string& model, Bytes resident, Bytes size, Duration now) {
  ledger_.note_resident(model, resident, now);
  ledger_.judge(model, size, rules_.least_gain, now);
}

void Prewarmer::note_demand(Bytes bytes) { earn(bytes); }

void Prewarmer::earn(Bytes bytes) {
  earned_ = std::min(earned_ + rules_.earned_share * count_of(bytes), count_of(rules_.bytes_a_day));
}

Bytes Prewarmer::allowance(Duration now) const {
  return smaller(left_of_day(now), Bytes{static_cast<std::uint64_t>(earned_)});
}

Bytes Prewarmer::left_of_day(Duration now) const {
  const double full = count_of(rules_.bytes_a_day);
  if (!filled_at_) return rules_.bytes_a_day;
  const double passed = std::max(0.0, static_cast<double>((now - *filled_at_).count()));
  return Bytes{static_cast<std::uint64_t>(std::min(full, allowance_ + full * passed / kDay))};
}

void Prewarmer::set_rules(PrewarmRules rules) {
  rules_ = rules;
  allowance_ = std::min(allowance_, count_of(rules.bytes_a_day));
  earned_ = std::min(earned_, count_of(rules.bytes_a_day));
}

}  // namespace hearth

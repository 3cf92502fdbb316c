// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/prewarm_book.h"

#include <algorithm>
#include <set>
#include <utility>

namespace hearth::front {
namespace {

constexpr Duration kDay = std::chrono::hours{24};
constexpr Duration kLongestRest = std::chrono::hours{24 * 28};
constexpr Bytes kPlenty{std::uint64_t{1} << 62};

PrewarmAccount sum(PrewarmAccount a, const PrewarmAccount& b) {
  a.read += b.read;
  a.used += b.used;
  a.wasted += b.wasted;
  a.gib_hours += b.gib_hours;
  a.saved_s += b.saved_s;
  a.pauses += b.pauses;
  return a;
}

// What would be read of it is nothing, and each byte it has is worth what it was.
PrewarmCandidate resting(PrewarmCandidate candidate) {
  if (candidate.size == Bytes{}) return candidate;
  const double share =
      static_cast<double>(candidate.resident.count()) / static_cast<double>(candidate.size.count());
  candidate.cold =
      Duration{static_cast<std::int64_t>(share * static_cast<double>(candidate.cold.count()))};
  candidate.size = candidate.resident;
  return candidate;
}

// The ledger answers for one moment only.
Duration end_of_rest(const PrewarmLedger& ledger, const std::string& model, Duration now) {
  Duration rests = now, awake = now + kLongestRest;
  while (awake - rests > std::chrono::seconds{1}) {
    const Duration middle = rests + (awake - rests) / 2;
    (ledger.rests(model, middle) ? rests : awake) = middle;
  }
  return awake;
}

}  // namespace

void PrewarmBook::set_rules(PrewarmRules rules) {
  rules_ = rules;
  prewarmer_.set_rules(rules);
}

std::optional<PrewarmStep> PrewarmBook::next(std::span<const PrewarmCandidate> candidates,
                                             Bytes free, double read_bytes_per_s, Duration now) {
  std::vector<PrewarmCandidate> models{candidates.begin(), candidates.end()};
  for (PrewarmCandidate& model : models) {
    const auto found = before_.find(model.model);
    if (found != before_.end() && now < found->second.rests_until) model = resting(model);
  }
  return prewarmer_.next(models, free, read_bytes_per_s, now);
}

void PrewarmBook::note_demand(Bytes bytes) {
  prewarmer_.note_demand(bytes);
  ++version_;
}

void PrewarmBook::note_read(const std::string& artifact, Bytes bytes, Duration now) {
  prewarmer_.note_read(artifact, bytes, now);
  ++version_;
}

void PrewarmBook::note_used(const std::string& artifact, double seconds_per_byte, Duration now) {
  if (unused(artifact) == Bytes{}) return;
  prewarmer_.note_used(artifact, seconds_per_byte, now);
  ++version_;
}

void PrewarmBook::note_resident(const std::string& artifact, Bytes resident, Bytes size,
                                Duration now) {
  const Bytes unused_before = unused(artifact);
  const int pauses_before = prewarmer_.ledger().account(artifact).pauses;
  prewarmer_.note_resident(artifact, resident, size, now);
  if (unused(artifact) != unused_before ||
      prewarmer_.ledger().account(artifact).pauses != pauses_before) {
    ++version_;
  }
}

void PrewarmBook::rename(const std::string& from, const std::string& to, Duration now) {
  PrewarmNotes all = notes(now);
  const auto found = all.models.find(from);
  if (from == to || found == all.models.end()) return;
  PrewarmNotes::Model moved = found->second;
  moved.account.wasted += moved.unused;
  moved.unused = {};
  all.models.erase(found);
  all.models[to] = moved;
  take(std::move(all), now);
}

void PrewarmBook::forget(const std::string& artifact, Duration now) {
  PrewarmNotes all = notes(now);
  if (all.models.erase(artifact) > 0) take(std::move(all), now);
}

std::vector<std::string> PrewarmBook::models() const {
  const std::vector<std::string> live = prewarmer_.ledger().models();
  std::set<std::string> names{live.begin(), live.end()};
  for (const auto& [artifact, model] : before_) names.insert(artifact);
  return {names.begin(), names.end()};
}

PrewarmAccount PrewarmBook::account(const std::string& artifact) const {
  const PrewarmAccount live = prewarmer_.ledger().account(artifact);
  const auto found = before_.find(artifact);
  return found == before_.end() ? live : sum(found->second.account, live);
}

std::optional<Duration> PrewarmBook::rests_until(const std::string& artifact, Duration now) const {
  Duration until = now;
  const auto found = before_.find(artifact);
  if (found != before_.end()) until = std::max(until, found->second.rests_until);
  if (prewarmer_.ledger().rests(artifact, now)) {
    until = std::max(until, end_of_rest(prewarmer_.ledger(), artifact, now));
  }
  return until > now ? std::optional{until} : std::nullopt;
}

PrewarmNotes PrewarmBook::notes(Duration now) const {
  PrewarmNotes notes;
  for (const std::string& artifact : models()) {
    notes.models[artifact] = {account(artifact), unused(artifact),
                              rests_until(artifact, now).value_or(Duration{})};
  }
  // The allowance is the lesser of two: each shows where the other one is large.
  Prewarmer rich = prewarmer_;
  rich.note_demand(kPlenty);
  notes.day_left = rich.allowance(now);
  notes.earned = prewarmer_.allowance(now + 2 * kDay);
  notes.at = now;
  return notes;
}

// The fresh prewarmer is given plenty for a moment, so that what lies unused is none of the day's
// bytes; rules that allow just what is left bring it down to that.
void PrewarmBook::take(PrewarmNotes notes, Duration now) {
  PrewarmRules passing = rules_;
  passing.bytes_a_day = kPlenty;
  passing.earned_share = 1;
  prewarmer_ = Prewarmer{passing};
  before_ = std::move(notes.models);
  for (auto& [artifact, model] : before_) {
    if (model.unused == Bytes{}) continue;
    prewarmer_.note_read(artifact, model.unused, now);
    model.account.read = model.account.read - model.unused;
  }
  prewarmer_.next({}, {}, 1, now);
  const auto passed = static_cast<double>(std::clamp(now - notes.at, Duration{}, kDay).count());
  const double refill =
      static_cast<double>(rules_.bytes_a_day.count()) * passed / static_cast<double>(kDay.count());
  passing.bytes_a_day =
      std::min(rules_.bytes_a_day, notes.day_left + Bytes{static_cast<std::uint64_t>(refill)});
  prewarmer_.set_rules(passing);
  passing.bytes_a_day = rules_.bytes_a_day;
  prewarmer_.set_rules(passing);
  prewarmer_.note_demand(notes.earned);
  prewarmer_.set_rules(rules_);
  ++version_;
}

}  // namespace hearth::front

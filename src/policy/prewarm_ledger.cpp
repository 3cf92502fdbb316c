// SPDX-License-Identifier: Apache-2.0
#include "policy/prewarm_ledger.h"

#include <algorithm>

namespace hearth {
namespace {

constexpr Duration kFirstRest = std::chrono::hours{24};
constexpr int kMostDoublings = 5;  // with the next one: about four weeks
constexpr Duration kLongestRest = std::chrono::hours{24 * 28};

double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

}  // namespace

PrewarmLedger::Entry& PrewarmLedger::at(const std::string& model, Duration now) {
  Entry& entry = entries_[model];
  if (now > entry.since) {
    const double hours = static_cast<double>((now - entry.since).count()) / 3.6e12;
    entry.account.gib_hours += hours * count_of(entry.unused) / (1 << 30);
  }
  entry.since = std::max(entry.since, now);
  return entry;
}

void PrewarmLedger::note_read(const std::string& model, Bytes bytes, Duration now) {
  Entry& entry = at(model, now);
  entry.account.read += bytes;
  entry.unused += bytes;
}

void PrewarmLedger::note_used(const std::string& model, double seconds_per_byte, Duration now) {
  if (!entries_.contains(model)) return;
  Entry& entry = at(model, now);
  if (entry.unused == Bytes{}) return;
  entry.account.used += entry.unused;
  entry.account.saved_s += std::max(0.0, seconds_per_byte) * count_of(entry.unused);
  entry.recent_used += count_of(entry.unused);
  entry.unused = {};
}

void PrewarmLedger::note_resident(const std::string& model, Bytes resident, Duration now) {
  if (!entries_.contains(model)) return;
  Entry& entry = at(model, now);
  const Bytes gone = entry.unused - resident;
  entry.unused = entry.unused - gone;
  entry.account.wasted += gone;
  entry.recent_wasted += count_of(gone);
}

bool PrewarmLedger::rests(const std::string& model, Duration now) const {
  const auto found = entries_.find(model);
  return found != entries_.end() && now < found->second.rests_until;
}

// A verdict needs three models' worth of bytes: less is a bad day.
void PrewarmLedger::judge(const std::string& model, Bytes size, double least, Duration now) {
  if (!entries_.contains(model)) return;
  Entry& entry = at(model, now);
  const double known = entry.recent_used + entry.recent_wasted;
  if (known <= 0 || known < 3 * count_of(size)) return;
  if (entry.recent_used >= least * known) {
    entry.in_a_row = 0;
  } else {
    const Duration rest = kFirstRest * (1 << std::min(entry.in_a_row++, kMostDoublings));
    entry.rests_until = now + std::min(rest, kLongestRest);
    ++entry.account.pauses;
  }
  entry.recent_used /= 2;
  entry.recent_wasted /= 2;
}

PrewarmAccount PrewarmLedger::account(const std::string& model) const {
  const auto found = entries_.find(model);
  return found == entries_.end() ? PrewarmAccount{} : found->second.account;
}

Bytes PrewarmLedger::unused(const std::string& model) const {
  const auto found = entries_.find(model);
  return found == entries_.end() ? Bytes{} : found->second.unused;
}

std::vector<std::string> PrewarmLedger::models() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace hearth

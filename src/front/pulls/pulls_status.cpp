// SPDX-License-Identifier: Apache-2.0
//
// What is told of all pulls: lists, shares, live events.
#include <array>
#include <utility>

#include "front/live_json.h"
#include "front/pulls/pulls.h"

namespace hearth::front {
namespace {

constexpr std::chrono::milliseconds kEventsApart{100};
constexpr std::array kStates{"queued", "running", "paused", "failed"};

}  // namespace

std::string Pulls::default_name(const Entry& entry) {
  if (!entry.pull) return entry.name;
  return entry.pull->plan() ? entry.pull->plan()->name : entry.pull->source().name;
}

Pulls::Share Pulls::share(const std::string& source) const {
  const auto found = entries_.find(source);
  if (found == entries_.end()) return {};
  const Entry& entry = found->second;
  if (entry.state == State::kRunning) return {entry.pull->done(), entry.pull->total()};
  return {entry.kept, entry.total};
}

PullStatus Pulls::status_of(const std::string& source, const Entry& entry) {
  PullStatus status;
  status.source = source;
  const std::vector<std::string> names = wanted_names(entry);
  status.name = names.empty() ? default_name(entry) : names.front();
  status.state = kStates.at(static_cast<std::size_t>(entry.state));
  status.reason = entry.reason;
  const bool running = entry.state == State::kRunning;
  status.done = static_cast<std::int64_t>((running ? entry.pull->done() : entry.kept).count());
  status.total = static_cast<std::int64_t>((running ? entry.pull->total() : entry.total).count());
  if (running) status.bytes_per_s = entry.pull->progress().bytes_per_s;
  status.touched_us = entry.touched_us;
  status.waiting = static_cast<int>(entry.waiters.size());
  return status;
}

std::vector<PullStatus> Pulls::statuses() const {
  std::vector<PullStatus> all;
  for (const auto& [source, entry] : entries_) all.push_back(status_of(source, entry));
  return all;
}

std::set<std::string> Pulls::keys_under_way() const {
  std::set<std::string> keys;
  for (const auto& [source, entry] : entries_) {
    if (!entry.driven || !entry.pull) continue;
    for (std::string& key : entry.pull->keys()) keys.insert(std::move(key));
  }
  return keys;
}

void Pulls::publish(const std::string& source, Entry& entry) {
  const TransferProgress progress =
      entry.state == State::kRunning ? entry.pull->progress() : TransferProgress{};
  const TimePoint now = world_.pull.loop.now();
  const bool new_step = entry.told_state != entry.state || entry.told_stage != progress.stage;
  if (!new_step && now - entry.told_at < kEventsApart) return;
  entry.told_state = entry.state;
  entry.told_stage = progress.stage;
  entry.told_at = now;
  world_.events.publish("pull", pull_json(status_of(source, entry), progress));
}

}  // namespace hearth::front

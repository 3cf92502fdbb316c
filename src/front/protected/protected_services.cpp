// SPDX-License-Identifier: Apache-2.0
#include "front/protected/protected_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "front/protected/protected_service.h"

namespace hearth::front {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Hearth = HarmJudge::Hearth;

constexpr milliseconds kBetweenReadings{500};
constexpr seconds kBetweenQuestions{2};
constexpr milliseconds kInAHurry{500};
// What Hearth did goes on having its effect for a while: caches, disks, what had to wait.
constexpr seconds kAftermath{1};

}  // namespace

struct ProtectedServices::Reading {
  std::shared_ptr<ProtectedService> service;
  ServiceSource::Reading read;
};

ProtectedServices::ProtectedServices(World world)
    : world_{std::move(world)}, gate_{world_.loop}, woken_{world_.loop} {}

ProtectedServices::~ProtectedServices() = default;

void ProtectedServices::set(const Options& options) {
  std::erase_if(services_, [&](const auto& entry) {
    const auto wanted = options.find(entry.first);
    const bool stays = wanted != options.end() && wanted->second == entry.second->options();
    if (!stays) entry.second->end();
    return !stays;
  });
  for (const auto& [name, each] : options) {
    if (services_.contains(name)) continue;
    auto service =
        std::make_shared<ProtectedService>(name, each, means_for(name, each), world_.threads);
    services_.emplace(name, service);
    if (running_) begin_asking(service);
  }
  woken_.notify_all();
}

ProtectedService::Means ProtectedServices::means_for(const std::string& name,
                                                     const ProtectedOptions& options) const {
  ProtectedService::Means means;
  if (!options.process.empty()) {
    means.source = process_source(options.process, world_.roots);
  } else if (!options.cgroup.empty()) {
    means.source = cgroup_source(options.cgroup, world_.roots);
  } else if (auto probe = world_.make_probe(options.url)) {
    means.probe = std::move(*probe);
  } else {
    means.trouble = probe.error().message();
    log::warn("protected.unwatched", {{"service", name}, {"error", means.trouble}});
  }
  return means;
}

void ProtectedServices::start() {
  if (std::exchange(running_, true)) return;
  for (const auto& [name, service] : services_) begin_asking(service);
  world_.loop.spawn(watch());
}

Task<void> ProtectedServices::stop() {
  running_ = false;
  for (const auto& [name, service] : services_) service->end();
  woken_.notify_all();
  co_await gate_.close();
}

void ProtectedServices::begin_asking(const std::shared_ptr<ProtectedService>& service) {
  if (service->probe() != nullptr) world_.loop.spawn(ask(service));
}

// Of now and of a moment ago.
Hearth ProtectedServices::hearth() {
  const TimePoint now = world_.loop.now();
  if (world_.busy()) busy_until_ = now + kAftermath;
  return now < busy_until_ ? Hearth::kBusy : Hearth::kIdle;
}

Task<void> ProtectedServices::watch() {
  const auto pass = gate_.enter();
  if (!pass) co_return;
  TimePoint next = world_.loop.now();
  while (running_) {
    const TimePoint now = world_.loop.now();
    if (services_.empty() && told_.empty()) {
      co_await woken_.wait();
      continue;
    }
    if (now < next) {
      co_await woken_.wait_until(next);
      continue;
    }
    next = now + kBetweenReadings;
    // Readings tell of the time up to them, so what Hearth does is looked at after them.
    std::vector<Reading> readings = to_read();
    auto job = [readings = std::move(readings)]() mutable {
      for (Reading& each : readings) each.read = each.service->source()->read();
      return std::move(readings);
    };
    const std::vector<Reading> done = co_await world_.pool.run(world_.loop, std::move(job));
    if (running_) look(done);
  }
}

std::vector<ProtectedServices::Reading> ProtectedServices::to_read() const {
  std::vector<Reading> readings;
  for (const auto& [name, service] : services_) {
    if (service->source() != nullptr) readings.push_back({service, {}});
  }
  return readings;
}

void ProtectedServices::look(const std::vector<Reading>& readings) {
  const TimePoint now = world_.loop.now();
  const Hearth did = hearth();
  for (const Reading& each : readings) {
    if (!each.service->ended()) each.service->take(now, each.read, did);
  }
  const GiveWay all = given();
  for (const auto& [name, service] : services_) service->look(now, world_.clock.wall_us(), all);
  tell();
}

Task<void> ProtectedServices::ask(std::shared_ptr<ProtectedService> service) {
  const auto pass = gate_.enter();
  if (!pass) co_return;
  TimePoint asked;
  while (running_ && !service->ended()) {
    const TimePoint next = asked + (service->in_a_hurry() ? kInAHurry : kBetweenQuestions);
    const TimePoint now = world_.loop.now();
    if (asked != TimePoint{} && now < next) {
      co_await woken_.wait_until(std::min(next, now + kInAHurry));
      continue;
    }
    asked = now;
    const Hearth before = hearth();
    const Result<Probe::Answer> answer = co_await service->probe()->ask();
    if (service->ended()) co_return;
    std::optional<Hearth> did{before};
    if (before == Hearth::kIdle && hearth() == Hearth::kBusy) did.reset();
    service->take(world_.loop.now(), answer, did);
  }
}

GiveWay ProtectedServices::given() const {
  GiveWay all;
  for (const auto& [name, service] : services_) all = both(all, service->given());
  return all;
}

wire::GiveWayMessage ProtectedServices::give_way() const {
  wire::GiveWayMessage share = given().compute;
  share.behind = std::ranges::any_of(services_, [](const auto& entry) {
    return entry.second->state() != ProtectedService::State::kGone;
  });
  return share;
}

std::string ProtectedServices::reason() const {
  std::string text;
  for (const auto& [name, service] : services_) {
    if (service->given() == GiveWay{}) continue;
    text += fmt::format("{}{}: {}.", text.empty() ? "" : " ", name, service->reason());
  }
  return text;
}

std::string ProtectedServices::json() const {
  std::string list = "[";
  for (const auto& [name, service] : services_) {
    if (list.size() > 1) list += ',';
    list += service->json();
  }
  return list + "]";
}

// Figures change all the time; states and what is given do not.
void ProtectedServices::tell() {
  std::string now;
  for (const auto& [name, service] : services_) {
    const GiveWay given = service->given();
    now += fmt::format("{}={}{}{}", name, static_cast<int>(service->state()), given.compute.threads,
                       given.compute.percent);
    for (const std::string& each : names_of(given)) now += "," + each;
    now += '\n';
  }
  if (std::exchange(told_, now) != now) world_.on_change();
}

}  // namespace hearth::front

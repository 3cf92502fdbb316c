// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <set>
#include <utility>

#include "front/prewarm/prewarm_runner.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

std::int64_t after(std::int64_t wall_us, Duration time) {
  return wall_us + std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

json::value window_of(const std::optional<NextArrival>& next, std::int64_t wall_us) {
  if (!next) return nullptr;
  return json::object{{"earliest_us", after(wall_us, next->earliest)},
                      {"likely_us", after(wall_us, next->likely)},
                      {"latest_us", after(wall_us, next->latest)}};
}

json::object account_of(const PrewarmBook& book, const std::string& artifact) {
  const PrewarmAccount account = book.account(artifact);
  return {{"read_bytes", account.read.count()},
          {"used_bytes", account.used.count()},
          {"wasted_bytes", account.wasted.count()},
          {"unused_bytes", book.unused(artifact).count()},
          {"gib_hours", account.gib_hours},
          {"saved_s", account.saved_s},
          {"pauses", account.pauses}};
}

json::object model_of(const HabitFile& habits, const std::string& artifact, Duration now) {
  const Instant moment = habits.moments().now();
  const std::int64_t wall_us = habits.moments().wall_us();
  json::object object = account_of(habits.prewarm(), artifact);
  const std::optional<Duration> rest = habits.prewarm().rests_until(artifact, now);
  object["resting_until_us"] = rest ? json::value(after(wall_us, *rest - now)) : json::value();
  object["probability"] =
      habits.arrivals().probability(artifact, moment, habits.prewarm().rules().horizon);
  object["next"] = window_of(habits.arrivals().next(artifact, moment), wall_us);
  return object;
}

}  // namespace

std::string PrewarmRunner::json() const {
  const Duration now = world_.habits.now();
  const HabitFile& habits = world_.habits;
  const std::vector<std::string> read = habits.prewarm().models();
  std::set<std::string> artifacts{read.begin(), read.end()};
  for (const auto& [artifact, model] : habits.arrivals().all()) artifacts.insert(artifact);
  json::array models;
  for (const std::string& artifact : artifacts) {
    json::object model{{"model", world_.name(artifact)}, {"artifact", artifact}};
    for (auto& member : model_of(habits, artifact, now)) model.insert(std::move(member));
    models.push_back(std::move(model));
  }
  const PrewarmSigns signs = world_.signs();
  const std::string_view why = why_not_prewarm(signs);
  const bool off = !running_ || !signs.enabled || !signs.layers_on;
  const char* state = off ? "off" : step_ ? "reading" : why.empty() ? "idle" : "held";
  return json::serialize(
      json::object{{"state", state},
                   {"why", why.empty() ? json::value() : json::value(why)},
                   {"model", step_ ? json::value(world_.name(step_->artifact)) : json::value()},
                   {"allowance_bytes", habits.prewarm().allowance(now).count()},
                   {"daily_bytes", habits.prewarm().rules().bytes_a_day.count()},
                   {"models", std::move(models)}});
}

}  // namespace hearth::front

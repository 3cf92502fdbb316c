// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/idle_run.h"

#include <algorithm>
#include <boost/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/json.h"

namespace hearth::lab {
namespace {

constexpr const char* kWaiting = "waiting.json";
constexpr std::chrono::seconds kBackupLasts{60};

std::int64_t microseconds(std::chrono::minutes pause) {
  return std::chrono::duration_cast<std::chrono::microseconds>(pause).count();
}

// 0 to count - 1 in another order for each repetition.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 engine{seed};
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
  return order;
}

StateSpec as_it_is(const Arm& arm) {
  StateSpec state = arm.state;
  state.server = StateSpec::Server::kAsIs;
  state.weights = StateSpec::Weights::kAsIs;
  state.prompts = StateSpec::Prompts::kAsIs;
  return state;
}

}  // namespace

void RealPauses::run(const Study& study, int repetitions, std::uint64_t seed, Meanwhile meanwhile) {
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto turn = seed + static_cast<std::uint64_t>(repetition);
    for (const std::size_t arm : shuffled(study.arms.size(), turn)) {
      if (world_.stop()) return;
      Round round = round_of(study, arm, repetition);
      if (!round.plans.empty()) make(std::move(round), meanwhile);
    }
  }
}

RealPauses::Round RealPauses::round_of(const Study& study, std::size_t arm, int repetition) const {
  Round round{.arm = &study.arms[arm], .plans = {}, .begun_us = {}};
  const std::size_t sides = world_.driver.sides().size();
  for (std::size_t i = 0; i < sides; ++i) {
    Plan plan;
    plan.study = study.name;
    plan.arm = round.arm->state.name;
    plan.side = (i + static_cast<std::size_t>(repetition)) % sides;
    plan.state = arm;
    plan.block = plan.repetition = repetition;
    plan.extra = round.arm->extra;
    if (!world_.driver.settled(plan)) round.plans.push_back(std::move(plan));
  }
  return round;
}

void RealPauses::make(Round round, Meanwhile meanwhile) {
  backed_up_ = false;
  // Others that are brought into use, or asked, meanwhile would make a pause of their own.
  if (round.arm->pause->count() == 0 && round.plans.size() > 1) {
    for (Plan& plan : round.plans) {
      if (world_.stop()) return;
      make({.arm = round.arm, .plans = {std::move(plan)}, .begun_us = {}}, meanwhile);
    }
    return;
  }
  if (!recall(round)) begin(round);
  for (std::size_t i = 0; i < round.plans.size(); ++i) {
    if (!wait(round, i, meanwhile)) return;
    Plan& plan = round.plans[i];
    plan.pause = {.begun_us = round.begun_us[i], .length = *round.arm->pause};
    world_.driver.make(plan, as_it_is(*round.arm), question_of(*round.arm, 0));
  }
}

void RealPauses::begin(Round& round) {
  round.begun_us.clear();
  for (const Plan& plan : round.plans) {
    bring_into_use(*world_.driver.sides()[plan.side].target, question_of(*round.arm, 0));
    round.begun_us.push_back(world_.clock.wall_us());
  }
  if (world_.servers_stay) note(round);
}

void RealPauses::note(const Round& round) {
  boost::json::array begun;
  for (const std::int64_t us : round.begun_us) begun.push_back(us);
  const boost::json::object object{{"arm", round.plans.front().arm},
                                   {"repetition", round.plans.front().repetition},
                                   {"begun_us", std::move(begun)}};
  // Without it a run that is ended waits this pause once more: nothing measured is lost.
  (void)world_.rows.write(kWaiting, boost::json::serialize(object) + '\n');
}

bool RealPauses::recall(Round& round) const {
  if (!world_.servers_stay) return false;
  const auto value = parse_json(read_small_file(world_.rows.path() + '/' + kWaiting));
  if (!value || !value->is_object()) return false;
  const boost::json::object& object = value->get_object();
  const auto* arm = object.if_contains("arm");
  const auto* repetition = object.if_contains("repetition");
  const auto* begun = object.if_contains("begun_us");
  if (arm == nullptr || *arm != boost::json::value(round.plans.front().arm) ||
      repetition == nullptr || *repetition != boost::json::value(round.plans.front().repetition) ||
      begun == nullptr || !begun->is_array() || begun->get_array().size() != round.plans.size()) {
    return false;
  }
  for (const boost::json::value& us : begun->get_array()) {
    if (!us.is_int64() || us.get_int64() > world_.clock.wall_us()) return false;
  }
  for (const boost::json::value& us : begun->get_array()) round.begun_us.push_back(us.get_int64());
  return true;
}

bool RealPauses::wait(const Round& round, std::size_t plan, Meanwhile meanwhile) {
  const std::int64_t begun = round.begun_us[plan];
  const std::int64_t until = begun + microseconds(*round.arm->pause);
  const std::int64_t backup = begun + microseconds(kBackupAfter);
  while (!world_.stop()) {
    const std::int64_t now = world_.clock.wall_us();
    if (now >= until) return true;
    if (meanwhile == Meanwhile::kBackup && !backed_up_ && now >= backup) back_up();
    const std::chrono::microseconds left{until - now};
    world_.on_waiting(std::chrono::ceil<std::chrono::seconds>(left));
    world_.machine.sleep(std::min(std::chrono::ceil<std::chrono::milliseconds>(left),
                                  std::chrono::milliseconds{1000}));
  }
  return false;
}

void RealPauses::back_up() {
  backed_up_ = true;
  const auto backup = world_.machine.compete(Competitor::kBackupScan,
                                             TrialRunner::competition_directory(world_.rows));
  if (backup) world_.machine.sleep(kBackupLasts);
}

}  // namespace hearth::lab

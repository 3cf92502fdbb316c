// SPDX-License-Identifier: Apache-2.0
#include "policy/household/league.h"

#include <string_view>

#include "policy/household/levels.h"
#include "policy/household/optimum.h"
#include "policy/household/peers.h"

namespace hearth::household {

std::vector<Score> play_all(const Trace& trace, const Machine& machine) {
  std::vector<Score> scores;
  for (const std::string_view name : peer_names()) {
    scores.push_back(replay(trace, machine, *make_peer(name, trace, machine)));
  }
  if (const auto best = optimum(trace, machine)) scores.push_back(*best);
  for (const auto prediction : {Levels::Prediction::kOff, Levels::Prediction::kOn}) {
    Levels levels{trace, prediction};
    scores.push_back(replay(trace, machine, levels));
  }
  return scores;
}

}  // namespace hearth::household

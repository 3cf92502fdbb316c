// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "lab/studies/driver.h"
#include "lab/studies/mix.h"

namespace hearth::lab {

// Replays a household's requests against each side: what a pause would have done to the server is
// done to it at once. Before it, immediate repeats are measured. What has a row is not asked again.
//
// Sides take turns, stretch by stretch of the mixture, so that a machine which becomes slower does
// so for all; who goes first changes. Where others were asked in between, a server is asked its own
// last question once more, unmeasured, before it goes on: pages and prompts are then as its own
// last step left them.
struct MixRun {
  struct Model {
    std::vector<std::size_t> sides;  // of the driver: the servers of this model, one for each kind
    std::string name;                // at a server with several; empty: the one it was opened with
    std::string label{};             // in rows; empty: "model 1" and so on
  };
  StudyDriver& driver;
  std::vector<Model> models;
  std::function<bool()> stop;
  std::function<void(int done, int all)> on_progress;
  int repeats = 7;
  int new_tokens = 16;
};

void replay_mix(MixRun& run, const HouseholdMix& mix);

}  // namespace hearth::lab

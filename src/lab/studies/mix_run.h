// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "lab/studies/driver.h"
#include "lab/studies/mix.h"

namespace hearth::lab {

// Replays a household's requests against each side, one side after another: what a pause would have
// done to the server is done to it at once. Before it, immediate repeats are measured. What has a
// row is not asked again.
struct MixRun {
  struct Model {
    std::vector<std::size_t> sides;  // of the driver: the servers of this model, one for each kind
    std::string name;                // at a server with several; empty: the one it was opened with
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

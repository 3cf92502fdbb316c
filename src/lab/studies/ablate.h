// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/studies/arm.h"
#include "lab/trial.h"

namespace hearth::lab {

// One layer at a time. Knock-out: "all warm", and "all but LAYER". Knock-in: "all cold", and "only
// LAYER". Then lengths of prompt by weights cold and warm: "256 tokens, weights cold" with `extra`
// "prompt_length".
//
// Layers lie on each other: pages cannot be dropped while weights map them, and weights do not
// outlive their process. What an arm takes away with its layer for that reason its `about` says.
Study ablations(Preset preset);

// Page-cold starts alone, for sides on storage of different speeds: "100 MB/s, page-cold" with
// `extra` "storage_mb_s".
Arm storage_arm(const std::string& tier, double megabytes_per_s);

// The worth of single layers, and what they come to together, for one side.
struct Additivity {
  std::string side;
  double cold_ms = 0;  // median wait with all cold
  double warm_ms = 0;  // and all warm
  struct Saving {
    std::string layer;
    std::optional<double> lost_ms;  // all but it - all warm
    std::optional<double> kept_ms;  // all cold - only it
  };
  std::vector<Saving> savings;
  // Sums of these by cold - warm: 1 if savings were additive. nullopt without any.
  std::optional<double> lost_share;
  std::optional<double> kept_share;
  std::vector<std::string> missing;  // arms of single layers that it has no row of that counts
  std::vector<std::string> nested;   // sentences: of its arms, what they take or keep besides
};
// So far a share may lie from 1 for savings that are called additive.
inline constexpr double kAdditive = 0.05;

// Of each side that has both "all warm" and "all cold"; rows that count.
std::vector<Additivity> additivity(const std::vector<Trial>& rows);

// In words, for people: what the sums say, by how much they differ from the whole and why, and
// which arms are missing.
std::string sentence_of(const Additivity& additivity);

}  // namespace hearth::lab

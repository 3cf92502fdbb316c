// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/ablate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lab/statistics/statistics.h"

namespace hearth::lab {
namespace {

using Server = StateSpec::Server;
using Weights = StateSpec::Weights;
using Prompts = StateSpec::Prompts;

constexpr std::string_view kAllBut = "all but ";
constexpr std::string_view kOnly = "only ";
// Two layers at once, so no part of a sum over layers.
constexpr std::string_view kHostMemory = "only host memory";

StateSpec& add(Study& study, std::string name, std::string about) {
  study.arms.emplace_back();
  study.arms.back().prompt_tokens = kKeptPrompt;
  StateSpec& state = study.arms.back().state;
  state.name = std::move(name);
  state.about = std::move(about);
  return state;
}

void knock_out(Study& study) {
  add(study, "all warm", "Loaded; the same question for the second time.").prompts = Prompts::kLive;

  add(study, "all but prompts", "Loaded; no state of the prompt is kept.").prompts =
      Prompts::kForgotten;

  StateSpec& weights = add(study, "all but weights",
                           "Not loaded; process, all pages and the prompt's state are in memory.");
  weights.weights = Weights::kUnloaded;
  weights.prompts = Prompts::kInMemory;
  weights.pages = 1;

  StateSpec& pages = add(study, "all but pages",
                         "No page of the model in memory, and so no weights; process and the "
                         "prompt's state are.");
  pages.weights = Weights::kUnloaded;
  pages.prompts = Prompts::kInMemory;
  pages.pages = 0;

  StateSpec& process = add(study, "all but process",
                           "The process with the model was killed, and its weights with it; all "
                           "pages and the prompt's state are in memory.");
  process.server = Server::kWorkerEnded;
  process.weights = Weights::kUnloaded;
  process.prompts = Prompts::kInMemory;
  process.pages = 1;
}

StateSpec& all_cold(Study& study, std::string name, std::string about) {
  StateSpec& state = add(study, std::move(name), std::move(about));
  state.server = Server::kWorkerEnded;
  state.weights = Weights::kUnloaded;
  state.prompts = Prompts::kForgotten;
  state.pages = 0;
  return state;
}

void knock_in(Study& study) {
  all_cold(study, "all cold", "No process with the model, no page of it, no state of the prompt.");

  all_cold(study, "only pages", "Only the file system's cache is warm.").pages = 1;

  StateSpec& memory = all_cold(study, "only prompts", "Only the prompt's state is in memory.");
  memory.prompts = Prompts::kInMemory;

  StateSpec& process = all_cold(study, "only process",
                                "Only the process waits, with what it keeps without weights.");
  process.server = Server::kAsIs;

  StateSpec& pinned =
      all_cold(study, "only weights",
               "The worker is pinned: loaded, with its process and pages; no state of the prompt.");
  pinned.server = Server::kAsIs;
  pinned.weights = Weights::kResident;
  pinned.pages.reset();

  StateSpec& host = all_cold(study, std::string{kHostMemory},
                             "The process without weights and the prompt's state are in memory.");
  host.server = Server::kAsIs;
  host.prompts = Prompts::kInMemory;
}

void lengths(Study& study, const std::vector<int>& tokens) {
  for (const int length : tokens) {
    for (const bool cold : {true, false}) {
      StateSpec& state =
          add(study, fmt::format("{} tokens, weights {}", length, cold ? "cold" : "warm"),
              fmt::format("A prompt of about {} tokens, never kept; the model is {}.", length,
                          cold ? "not loaded, its pages are not in memory" : "loaded"));
      state.prompts = Prompts::kForgotten;
      if (cold) {
        state.weights = Weights::kUnloaded;
        state.pages = 0;
      }
      study.arms.back().prompt_tokens = length;
      study.arms.back().extra["prompt_length"] = length;
    }
  }
}

using Medians = std::map<std::string, double>;  // by arm

// side -> its medians, sides in the order in which they were met.
std::vector<std::pair<std::string, Medians>> medians_of(const std::vector<Trial>& rows) {
  std::vector<std::string> sides;
  std::map<std::pair<std::string, std::string>, std::vector<double>> waits;
  for (const Trial& row : rows) {
    const std::optional<double> wait = row.timing.wait_ms();
    if (!row.counts() || !wait) continue;
    if (std::ranges::find(sides, row.side) == sides.end()) sides.push_back(row.side);
    waits[{row.side, row.arm}].push_back(*wait);
  }
  std::vector<std::pair<std::string, Medians>> found;
  for (const std::string& side : sides) {
    Medians medians;
    for (const auto& [key, values] : waits) {
      if (key.first == side) medians[key.second] = quantile(values, 0.5).value_or(0);
    }
    found.emplace_back(side, std::move(medians));
  }
  return found;
}

Additivity::Saving& saving_of(Additivity& additivity, const std::string& layer) {
  auto found = std::ranges::find(additivity.savings, layer, &Additivity::Saving::layer);
  if (found == additivity.savings.end()) {
    additivity.savings.push_back({layer, {}, {}});
    found = std::prev(additivity.savings.end());
  }
  return *found;
}

void sum_up(Additivity& result) {
  const double whole = result.cold_ms - result.warm_ms;
  if (whole <= 0) return;
  for (const Additivity::Saving& saving : result.savings) {
    if (saving.lost_ms) result.lost_share = result.lost_share.value_or(0) + *saving.lost_ms / whole;
    if (saving.kept_ms) result.kept_share = result.kept_share.value_or(0) + *saving.kept_ms / whole;
  }
}

}  // namespace

Study ablations(Preset preset) {
  Study study{.name = "ablate", .arms = {}};
  knock_out(study);
  knock_in(study);
  lengths(study,
          preset == Preset::kQuick ? std::vector{32, 512} : std::vector{32, 256, 1000, 3500});
  return study;
}

Arm storage_arm(const std::string& tier, double megabytes_per_s) {
  Arm arm;
  arm.state.name = tier + ", page-cold";
  arm.state.about = fmt::format("Not loaded, no page in memory; the model lies on {}.", tier);
  arm.state.weights = Weights::kUnloaded;
  arm.state.pages = 0;
  arm.extra["storage_mb_s"] = megabytes_per_s;
  return arm;
}

std::vector<Additivity> additivity(const std::vector<Trial>& rows) {
  std::vector<Additivity> found;
  for (const auto& [side, medians] : medians_of(rows)) {
    if (!medians.contains("all warm") || !medians.contains("all cold")) continue;
    Additivity result{.side = side,
                      .cold_ms = medians.at("all cold"),
                      .warm_ms = medians.at("all warm"),
                      .savings = {},
                      .lost_share = {},
                      .kept_share = {}};
    for (const auto& [arm, median] : medians) {
      if (arm.starts_with(kAllBut)) {
        saving_of(result, arm.substr(kAllBut.size())).lost_ms = median - result.warm_ms;
      } else if (arm.starts_with(kOnly) && arm != kHostMemory) {
        saving_of(result, arm.substr(kOnly.size())).kept_ms = result.cold_ms - median;
      }
    }
    sum_up(result);
    found.push_back(std::move(result));
  }
  return found;
}

std::string sentence_of(const Additivity& additivity) {
  std::string text = fmt::format("{}: from all cold to all warm {:.0f} ms are saved.",
                                 additivity.side, additivity.cold_ms - additivity.warm_ms);
  if (additivity.kept_share) {
    text += fmt::format(" The savings of single layers come to {:.0f} % of that",
                        100 * *additivity.kept_share);
  }
  if (additivity.lost_share) {
    text +=
        fmt::format("{} losing single layers costs {:.0f} % of it",
                    additivity.kept_share ? ", and" : " Together,", 100 * *additivity.lost_share);
  }
  if (additivity.kept_share || additivity.lost_share) {
    text += ". They are not additive: stages overlap, and some layers lie on others.";
  }
  return text;
}

}  // namespace hearth::lab

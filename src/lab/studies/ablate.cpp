// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/ablate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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

// What arms take away, or keep, besides their layer.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNested{
    {{"all but pages", "all but pages has no weights either"},
     {"all but process", "all but process has no weights either"},
     {"only weights", "only weights keeps process and pages too"},
     {kHostMemory, "only host memory keeps two layers and is in no sum"}}};

void look_at_arms(Additivity& result, const Medians& medians) {
  for (const Arm& arm : ablations(Preset::kQuick).arms) {
    const std::string& name = arm.state.name;
    const bool is_single = name.starts_with(kAllBut) || name.starts_with(kOnly);
    if (is_single && name != kHostMemory && !medians.contains(name)) result.missing.push_back(name);
  }
  for (const auto& [arm, words] : kNested) {
    if (medians.contains(std::string{arm})) result.nested.emplace_back(words);
  }
}

bool is_additive(const std::optional<double>& share) {
  return !share || std::abs(*share - 1) <= kAdditive;
}

// "97 % of that: they are additive.", "120 % of that, 180 ms more: they are not additive."
std::string sum_text(double share, double whole_ms) {
  const std::string part = fmt::format("{:.0f} % of that", 100 * share);
  if (is_additive(share)) return part + ": they are additive.";
  return fmt::format("{}, {:.0f} ms {}: they are not additive.", part,
                     std::abs(share - 1) * whole_ms, share > 1 ? "more" : "less");
}

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
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
                      .kept_share = {},
                      .missing = {},
                      .nested = {}};
    for (const auto& [arm, median] : medians) {
      if (arm.starts_with(kAllBut)) {
        saving_of(result, arm.substr(kAllBut.size())).lost_ms = median - result.warm_ms;
      } else if (arm.starts_with(kOnly) && arm != kHostMemory) {
        saving_of(result, arm.substr(kOnly.size())).kept_ms = result.cold_ms - median;
      }
    }
    sum_up(result);
    look_at_arms(result, medians);
    found.push_back(std::move(result));
  }
  return found;
}

std::string sentence_of(const Additivity& additivity) {
  const double whole = additivity.cold_ms - additivity.warm_ms;
  std::string text =
      fmt::format("{}: from all cold to all warm {:.0f} ms are saved.", additivity.side, whole);
  if (additivity.kept_share) {
    text += " The savings of single layers come to " + sum_text(*additivity.kept_share, whole);
  }
  if (additivity.lost_share) {
    text += " What losing single layers costs comes to " + sum_text(*additivity.lost_share, whole);
  }
  const bool any = additivity.kept_share || additivity.lost_share;
  if (any && !(is_additive(additivity.kept_share) && is_additive(additivity.lost_share))) {
    text += " Where sums differ, stages overlap or layers lie on others";
    text += additivity.nested.empty() ? "." : ": " + joined(additivity.nested) + ".";
  } else if (any && !additivity.nested.empty()) {
    text += " Not all arms are of one layer: " + joined(additivity.nested) + ".";
  }
  if (!additivity.missing.empty()) {
    text += " Not in the sums, for want of rows that count: " + joined(additivity.missing) + ".";
  }
  return text;
}

}  // namespace hearth::lab

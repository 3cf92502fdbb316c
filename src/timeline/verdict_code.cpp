// SPDX-License-Identifier: Apache-2.0
#include "timeline/verdict_code.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hearth {
namespace {

constexpr std::array<std::string_view, 31> kNames{
    "artifact.absent",      "artifact.partial",      "artifact.changed", "pages.never_read",
    "pages.dropped",        "pages.evicted",         "pages.replaced",   "pages.swapped",
    "weights.first_use",    "weights.idle",          "weights.asked",    "weights.evicted_for",
    "weights.worker_died",  "weights.options",       "compiled.first",   "compiled.engine",
    "compiled.driver",      "compiled.hardware",     "compiled.model",   "compiled.shape",
    "prefix.diverged",      "prefix.evicted",        "prefix.short",     "prefix.other_key",
    "prefix.other_options", "prefix.not_restorable", "queue.busy",       "queue.behind_load",
    "power.ramp",           "cpu.contended",         "memory.swapped",
};
static_assert(kNames.size() == static_cast<std::size_t>(VerdictCode::kMemorySwapped) + 1);

}  // namespace

std::string_view name_of(VerdictCode code) { return kNames[static_cast<std::size_t>(code)]; }

std::optional<VerdictCode> verdict_code_named(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<VerdictCode>(found - kNames.begin());
}

std::string_view layer_of(VerdictCode code) {
  if (code >= VerdictCode::kQueueBusy) return {};
  const std::string_view name = name_of(code);
  return name.substr(0, name.find('.'));
}

}  // namespace hearth

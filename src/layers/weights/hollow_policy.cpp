// SPDX-License-Identifier: Apache-2.0
#include "layers/weights/hollow_policy.h"

#include <algorithm>

namespace hearth {
namespace {

double gibibytes(Bytes bytes) { return static_cast<double>(bytes.count()) / (1 << 30); }

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

bool pays(Duration spawn, double uses_per_hour, Bytes size, const HollowTerms& terms) {
  if (spawn <= Duration::zero()) return true;
  return seconds(spawn) * uses_per_hour >= terms.seconds_per_gib_hour * gibibytes(size);
}

}  // namespace

HollowFate fate_of(const HollowWorker& worker, const HollowTerms& terms) {
  const bool known = worker.fresh > Bytes{};
  const Bytes limit = known ? worker.fresh + terms.may_grow : terms.most;
  const bool grown = worker.own > limit;
  // What stays when it is kept, or when a fresh one takes its place.
  const Bytes size = known ? worker.fresh : std::min(worker.own, limit);
  if (!pays(worker.spawn, worker.uses_per_hour, size, terms)) return HollowFate::kEnd;
  return grown || worker.held_device ? HollowFate::kReplace : HollowFate::kKeep;
}

double expected_uses_per_hour(int uses, Duration observed, Duration idle) {
  if (uses <= 0) return 0;
  const Duration span = std::max({observed, idle, Duration{std::chrono::hours{1}}});
  const double usual = 3600.0 * uses / seconds(span);
  const double lately = 3600.0 / std::max(1.0, seconds(idle));
  return std::min(usual, lately);
}

}  // namespace hearth

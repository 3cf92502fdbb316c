// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/prewarm_signs.h"

namespace hearth::front {

std::string_view why_not_prewarm(const PrewarmSigns& signs) {
  if (!signs.enabled) return "it is switched off";
  if (!signs.layers_on) return "a layer that it needs is switched off";
  if (signs.requests > 0) return "requests are being served";
  if (signs.loading) return "a model is being loaded";
  if (signs.given_way) return "a service that comes first is given way to";
  if (signs.since_pressure && *signs.since_pressure < PrewarmSigns::kQuiet) {
    return "memory was wanted within the last minute";
  }
  return {};
}

}  // namespace hearth::front

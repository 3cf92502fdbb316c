// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/rung.h"

#include <algorithm>
#include <cmath>

namespace hearth::front {

std::string_view name_of(Rung rung) {
  switch (rung) {
    case Rung::kNone:
      return "none";
    case Rung::kPages:
      return "pages";
    case Rung::kResident:
      return "resident";
    case Rung::kPinnedPages:
      return "pinned pages";
    case Rung::kResidentPinned:
      return "resident and pinned";
  }
  return "none";
}

std::optional<Rung> rung_named(std::string_view name) {
  for (const Rung rung :
       {Rung::kNone, Rung::kPages, Rung::kResident, Rung::kPinnedPages, Rung::kResidentPinned}) {
    if (name_of(rung) == name) return rung;
  }
  return std::nullopt;
}

Duration p95(const Forecast& forecast) {
  constexpr double kFurther = 1.6448536 / 1.2815516;  // z of 95 % over z of 90 %
  if (forecast.time <= Duration{} || forecast.high <= forecast.time) {
    return std::max(forecast.time, forecast.high);
  }
  const double time = static_cast<double>(forecast.time.count());
  const double factor = static_cast<double>(forecast.high.count()) / time;
  constexpr double kLongest = 30 * 24 * 3.6e12;
  return Duration{static_cast<std::int64_t>(std::min(kLongest, time * std::pow(factor, kFurther)))};
}

}  // namespace hearth::front

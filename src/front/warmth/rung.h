// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "policy/outlook.h"

namespace hearth::front {

// How a model may wait, cheapest first.
enum class Rung {
  kNone,            // nothing is promised
  kPages,           // a hollow worker, and its pages in memory as long as the kernel leaves them
  kResident,        // weights loaded
  kPinnedPages,     // a hollow worker, and pages locked
  kResidentPinned,  // weights loaded, and pages locked
};
// "none", "pages", "resident", "pinned pages", "resident and pinned"
std::string_view name_of(Rung rung);
std::optional<Rung> rung_named(std::string_view name);
constexpr bool keeps_weights(Rung rung) {
  return rung == Rung::kResident || rung == Rung::kResidentPinned;
}
constexpr bool keeps_pins(Rung rung) {
  return rung == Rung::kPinnedPages || rung == Rung::kResidentPinned;
}

// One rung of one model: what it would do and what it takes.
struct RungOffer {
  Rung rung = Rung::kPages;
  Forecast forecast;  // of the first token of a short prompt, if the model stood there
  Bytes holds{};      // memory that nobody else can have meanwhile
};

// Of 100 such starts, 95 take no longer. A forecast tells where nine of ten lie; beyond, errors are
// taken to be log-normal.
Duration p95(const Forecast& forecast);

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "front/warmth/psi_base.h"
#include "front/warmth/warm_keeper.h"

namespace hearth::front {

// What a WarmKeeper knows of one model.
struct WarmKeeper::Model {
  Model(WarmTerms terms, WarmNotes notes)
      : claim{terms, std::move(notes.claim)}, choice{notes.choice}, psi{notes.psi_base} {}
  WarmNotes notes() const { return {claim.notes(), choice.notes(), psi.base()}; }

  WarmClaim claim;
  RungChoice choice;
  PsiBase psi;
  std::optional<RungDecision> decision{};
  Rung stands = Rung::kNone;           // at the last look
  std::optional<Forecast> as_it_is{};  // likewise
  Rung applied = Rung::kNone;
  Pause before_move{};
  Pause before_probe{};
  std::string probe_error{};
};

}  // namespace hearth::front

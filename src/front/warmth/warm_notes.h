// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "front/prewarm/lasting_time.h"
#include "front/warmth/rung_choice.h"
#include "front/warmth/warm_claim.h"

namespace hearth::front {

// What is kept of one model's warmth over restarts.
struct WarmNotes {
  WarmClaim::Notes claim{};
  RungChoice::Notes choice{};
  std::optional<double> psi_base{};
};

struct WarmBook {
  LastingNotes time{};
  std::map<std::string, WarmNotes> models{};  // by artifact

  static constexpr std::size_t kMostModels = 256;
};

std::string to_json(const WarmBook& book);
// Errors: kCorrupt, for whatever to_json() does not write.
Result<WarmBook> warm_book_from_json(std::string_view text);

}  // namespace hearth::front

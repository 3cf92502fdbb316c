// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_miss.h"

#include <algorithm>

#include "blocks/block_chain.h"

namespace hearth::front {
namespace {

using enum VerdictCode;
using Miss = PrefixRoom::Miss;

constexpr int kBlock{blocks::kBlockTokens};
constexpr int kMicroBatch = 512;  // tokens

// Of the prompt's first tokens; modules that were moved come behind them.
int exact_tokens(const wire::StartedMessage& started) {
  return started.cached_tokens - started.prefix.shifted;
}

// Why tokens were evaluated again that had been evaluated before.
VerdictCode why_again(Miss miss, int again, Exactness exactness) {
  if (miss == Miss::kNotRestorable) return kPrefixNotRestorable;
  if (miss == Miss::kOtherOptions) return kPrefixOtherOptions;
  if (miss == Miss::kShort) return kPrefixShort;
  const bool too_short = exactness == Exactness::kWholeBatches && again < kMicroBatch;
  return too_short && miss != Miss::kEvicted ? kPrefixShort : kPrefixEvicted;
}

// What kept tokens from having been evaluated before: of those a prompt has ahead of all others.
std::optional<VerdictCode> why_new(Miss miss, const wire::PrefixOutcome& outcome) {
  switch (miss) {
    case Miss::kDiverged:
      return kPrefixDiverged;
    case Miss::kShort:
      return kPrefixShort;
    case Miss::kOtherOptions:
      return kPrefixOtherOptions;
    case Miss::kNone:  // less than a block is no block's loss, but the place is known
    case Miss::kEvicted:
    case Miss::kNotRestorable:
      break;
  }
  return outcome.difference ? std::optional{kPrefixDiverged} : std::nullopt;
}

std::optional<VerdictCode> reason_of(const PrefixRoom::Found& found,
                                     const wire::StartedMessage& started, Exactness exactness) {
  const int again = std::min(found.seen, started.prompt_tokens) - started.cached_tokens;
  if (again >= kBlock) {
    const bool impossible = !started.prefix.not_restorable.empty();
    return impossible ? kPrefixNotRestorable : why_again(found.miss, again, exactness);
  }
  // The last token of a prompt is evaluated in any case.
  if (started.cached_tokens >= started.prompt_tokens - 1) return std::nullopt;
  return why_new(found.miss, started.prefix);
}

}  // namespace

PrefixUse prefix_use_of(const PrefixRoom::Found& found, const wire::StartedMessage& started,
                        Exactness exactness) {
  const wire::PrefixOutcome& outcome = started.prefix;
  PrefixUse use;
  use.memory = outcome.arena;
  use.disk = outcome.disk;
  use.live = std::max(0, exact_tokens(started) - outcome.arena - outcome.disk);
  use.approximate = outcome.shifted;
  use.restored = outcome.arena_bytes + outcome.disk_bytes;
  use.not_restorable = outcome.not_restorable;
  const std::optional<VerdictCode> reason = reason_of(found, started, exactness);
  if (!reason) return use;
  use.miss = PrefixUse::Miss{*reason, exact_tokens(started), std::nullopt};
  if (*reason == kPrefixDiverged && outcome.difference) {
    use.miss->position = outcome.difference->position;
    use.miss->difference = PrefixUse::Difference{outcome.difference->character,
                                                 outcome.difference->had, outcome.difference->has};
  }
  return use;
}

}  // namespace hearth::front

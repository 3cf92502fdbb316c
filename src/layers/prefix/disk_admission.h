// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth {

// What is known of a block in memory when somebody asks whether to write it to disk.
struct DiskCandidate {
  std::size_t chain_blocks = 0;  // of its whole conversation, as far as it was evaluated
  int uses = 0;                  // after the request that made it: BlockTier::uses()
  enum class Kind { kConversation, kModule };
  Kind kind = Kind::kConversation;
  TimePoint last_reply{};  // of its conversation; the latest possible while a request runs
  enum class Budget { kLeft, kSpent };
  Budget budget = Budget::kLeft;  // WriteBudget::allows() of its size
};

enum class DiskAdmission {
  kWrite,
  kNotYet,  // ask again later
  kShort,   // evaluating so little anew costs less than it wears the disk
  kSpent,   // not today
};

// Shorter conversations are never written.
inline constexpr std::size_t kLeastDiskBlocks = 2;

// Whether a block is worth a write: it was needed again, belongs to a module, or its conversation
// has been quiet for `quiet_s`, so that it will not grow soon and may be what its user comes back
// to. Pure.
DiskAdmission disk_admission(const DiskCandidate& block, TimePoint now, int quiet_s);

}  // namespace hearth

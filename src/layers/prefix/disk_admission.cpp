// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/disk_admission.h"

#include <chrono>

namespace hearth {

DiskAdmission disk_admission(const DiskCandidate& block, TimePoint now, int quiet_s) {
  if (block.chain_blocks < kLeastDiskBlocks) return DiskAdmission::kShort;
  const bool worth =
      block.uses > 0 || block.kind == DiskCandidate::Kind::kModule ||
      (now >= block.last_reply && now - block.last_reply >= std::chrono::seconds{quiet_s});
  if (!worth) return DiskAdmission::kNotYet;
  return block.budget == DiskCandidate::Budget::kLeft ? DiskAdmission::kWrite
                                                      : DiskAdmission::kSpent;
}

}  // namespace hearth

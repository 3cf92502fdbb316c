// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace hearth {

// Why a reply took longer than a warm one. The part before the dot of its name says where.
enum class VerdictCode {
  kArtifactAbsent,
  kArtifactPartial,
  kArtifactChanged,
  kPagesNeverRead,
  kPagesDropped,   // we, or somebody, told the kernel to
  kPagesEvicted,   // the kernel wanted the memory
  kPagesReplaced,  // the file is another one now
  kPagesSwapped,
  kWeightsFirstUse,
  kWeightsIdle,
  kWeightsAsked,       // unloaded by hand
  kWeightsEvictedFor,  // another model took the room
  kWeightsWorkerDied,
  kWeightsOptions,  // loaded, but not in the way this request needs
  kCompiledFirst,
  kCompiledEngine,
  kCompiledDriver,
  kCompiledHardware,
  kCompiledModel,
  kCompiledShape,
  kPrefixDiverged,
  kPrefixEvicted,
  kPrefixShort,
  kPrefixOtherKey,
  kPrefixOtherOptions,
  kPrefixNotRestorable,
  kQueueBusy,
  kQueueBehindLoad,
  kPowerRamp,
  kCpuContended,
  kMemorySwapped,
};

// "weights.first_use", "queue.busy", ...
std::string_view name_of(VerdictCode code);
std::optional<VerdictCode> verdict_code_named(std::string_view name);

// "weights" for weights.*; empty for what is no cache layer (queue, power, cpu, memory).
std::string_view layer_of(VerdictCode code);

}  // namespace hearth

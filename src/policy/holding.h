// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth {

// What of a model takes memory, on one level of one layer.
enum class HoldingKind {
  kPrefixBlocks,     // kept prompts in RAM; given up, they are on disk, or to be evaluated again
  kRepackedWeights,  // private copies in another layout
  kWeights,          // of a resident model; without them its worker is hollow
  kPinnedPages,      // locked by the keeper
  kPageCache,  // clean pages of its files: the kernel takes them when it wants, so nobody else
               // need, and they count as free memory
  kDeviceWeights,
  kDeviceContext,  // KV cells, buffers and what the driver holds for them
  kHollowWorker,   // vocabulary, template, threads; goes last of its model
};
// "prefix blocks", "repacked weights", "weights", "pinned pages", "page cache", "device weights",
// "device context", "hollow worker"
std::string_view name_of(HoldingKind kind);

inline constexpr int kHostMemory = -1;

// Why a holding may not go below `floor`.
enum class FloorReason { kNone, kPin, kWarmBound };

// One thing that could be given up, or some of it.
struct Holding {
  std::string subject;  // the model
  HoldingKind kind = HoldingKind::kWeights;
  int device = kHostMemory;  // or the device's index
  Bytes held{};
  // What is given up at a time; zero: all of it or nothing.
  Bytes step{};
  Duration to_restore{};         // of all that is held, when next asked for
  double arrivals_per_hour = 0;  // expected: see ArrivalModel::expected_per_hour()

  Bytes floor{};  // a pin or a promise keeps so much of it
  FloorReason floor_reason = FloorReason::kNone;
  bool busy = false;  // a request is using it, or it is being loaded
  int owed = 0;       // requests that waited for its load and were not served yet: see Debts
};

// Waiting to be expected per hour for each byte that is not held, in seconds.
double regret_per_byte(const Holding& holding);

}  // namespace hearth

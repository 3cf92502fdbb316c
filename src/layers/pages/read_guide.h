// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/async.h"
#include "layers/artifact/load_set.h"
#include "layers/pages/page_reader.h"

namespace hearth {

// Leave to read from a device, given back with the object.
class ReadLeave {
 public:
  virtual ~ReadLeave() = default;
};

// How one read is to go.
struct ReadTurn {
  ReadStyle style;
  std::string device;  // the key of the one that all but little of it comes from; else empty
  std::unique_ptr<ReadLeave> leave;  // may be null
  // Set once somebody who cannot wait wants the device: end within a block, give the leave back,
  // ask again. May be null. Shared with whoever sets it.
  std::shared_ptr<const std::atomic<bool>> give_way;
};

// Who may read from which device when, and how. Belongs to the loop.
class ReadGuide {
 public:
  virtual ~ReadGuide() = default;

  // Waits while others read from a device that serves one at a time; returns early, without leave,
  // once `progress` is cancelled, which outlives the task. Never fails: what cannot be found out
  // stays at its default.
  virtual Task<ReadTurn> turn(LoadSet load_set, const Progress& progress) = 0;

  // What came of it.
  virtual void note(const ReadTurn& turn, const ReadReport& report) = 0;
};

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <functional>
#include <set>
#include <string>

#include "base/async.h"
#include "base/event_loop.h"
#include "base/result.h"
#include "base/sync.h"

namespace hearth::front {

// What is to stay: one layer ("weights", "pages") of one model's files.
struct PinKey {
  std::string artifact;
  std::string layer;
  auto operator<=>(const PinKey&) const = default;
};

// The pins of all models. For each there is a task that makes it true again whenever it is not, and
// tries again after a pause where that cannot be done. The pause doubles with each attempt; what
// held for a while before it was lost begins anew. Belongs to the loop. Call stop() before
// destroying it.
class Pins {
 public:
  struct World {
    EventLoop& loop;
    // Whether it is true now.
    std::function<bool(const PinKey&)> holds;
    // Makes it true.
    std::function<Task<Result<>>(PinKey)> hold;
    // It is pinned no longer.
    std::function<void(const PinKey&)> let_go;
  };
  explicit Pins(World world);

  // All that there are from now on.
  void set(std::set<PinKey> pins);
  // Something that a pin holds may have changed.
  void look_again() { changed_.notify_all(); }

  // Lets all go. Whatever hold() waits for must end by other means.
  Task<void> stop();

 private:
  Task<void> tend(PinKey pin);
  Task<Duration> hold_until_lost(PinKey pin);

  World world_;
  Notify changed_;
  Gate tasks_;
  std::set<PinKey> pins_;
  std::set<PinKey> tended_;  // those that tend() is at
};

}  // namespace hearth::front

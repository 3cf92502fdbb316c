// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace hearth::worker {

// What changes about a load while it goes on; told by any thread.
struct LoadFlags {
  std::atomic<bool> give_up{false};
  std::atomic<bool> idle{false};  // nobody waits for it
};

}  // namespace hearth::worker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/sim_event_loop.h"

namespace hearth::testing {

template <class T>
Task<void> keep_value(Task<T> task, std::optional<T>* into) {
  into->emplace(co_await std::move(task));
}

// Runs a task to its end on a virtual loop, up to a day of its time.
template <class T>
T run_task(SimEventLoop& loop, Task<T> task) {
  std::optional<T> value;
  loop.spawn(keep_value(std::move(task), &value));
  loop.run_for(std::chrono::hours{24});
  return std::move(value).value();
}

}  // namespace hearth::testing

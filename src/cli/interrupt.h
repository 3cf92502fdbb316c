// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace hearth::cli {

// While this object lives, ^C (SIGINT) no longer ends the process but is remembered here. One at a
// time; the earlier disposition comes back with its destruction.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  static bool interrupted();

  // Ends the current wait() from another thread, as ^C does.
  static void wake();

  // Returns when ^C came or wake() was called since this object was made.
  void wait();

 private:
  struct sigaction earlier_{};
};

}  // namespace hearth::cli

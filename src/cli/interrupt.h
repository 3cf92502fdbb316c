// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace hearth::cli {

// While one of these lives, ^C (SIGINT) no longer ends the process but is remembered here. They
// nest: the outermost one forgets what came before it and brings the earlier disposition back at
// its end, so that a ^C between two inner ones is seen by the second. Of one thread.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  static bool interrupted();

  // What came so far has been dealt with.
  static void forget();

  // Ends the current wait() from another thread, as ^C does.
  static void wake();

  // Returns when ^C came or wake() was called since this object was made.
  void wait();
};

}  // namespace hearth::cli

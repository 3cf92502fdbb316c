// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace hearth::cli {

// While one of these lives, ^C (SIGINT) no longer ends the process but is remembered here; if it is
// made so, SIGTERM and SIGHUP as well (one that is ignored, as under nohup, stays ignored). They
// nest: the outermost one forgets what came before it and brings the earlier disposition back at
// its end, so that a ^C between two inner ones is seen by the second. Of one thread.
class InterruptWatch {
 public:
  enum class Signals { kInterrupt, kAllEndings };
  // Of inner ones, `signals` do not matter.
  explicit InterruptWatch(Signals signals = Signals::kInterrupt);
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

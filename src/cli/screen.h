// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cli/terminal.h"

namespace hearth::cli {

// All of the terminal, for as long as this object lives: another screen than the one with the
// shell's lines, no cursor, no echo. At the end everything is as it was, also where ^C, SIGTERM or
// SIGHUP end it: these are events here. To be made before any other thread, which then takes none
// of these signals; one at a time.
class Screen {
 public:
  enum class Event { kNothing, kKey, kResized, kChanged, kInterrupted, kGone };

  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // The next event, or kNothing at the end of `pause`. kChanged: `watched` is readable. kGone: the
  // terminal is.
  Event wait(std::chrono::milliseconds pause, int watched);
  // The one of the last kKey.
  char key() const { return key_; }

  OutputStyle style() const;
  std::size_t rows() const;

  // Writes the lines that differ from what is shown, all of them after a change of size.
  void show(std::vector<std::string> lines);

 private:
  Event signalled();
  Event typed();

  Fd signals_;
  bool has_keys_ = false;
  termios earlier_{};
  char key_ = 0;
  std::vector<std::string> shown_;
};

}  // namespace hearth::cli

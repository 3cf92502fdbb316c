// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace hearth {

struct ExitStatus {
  int code = 0;    // meaningful when signal is 0
  int signal = 0;  // e.g. SIGKILL; 0 when the process exited by itself
};

// "exit code 3" or "signal 9 (Killed)".
std::string describe(const ExitStatus& status);

// A running child. While this object lives there is a process or a zombie to reap; when it is gone
// there is neither, whatever path control took.
//
// The child sees its end of control() as descriptor 3 and must exit on end of file there: that is
// how it learns that its parent died, even by SIGKILL. (PR_SET_PDEATHSIG is tied to the spawning
// thread.) Not thread-safe.
class Process {
 public:
  virtual ~Process() = default;

  virtual pid_t pid() const = 0;

  // Readable once the child has exited; give it to the event loop.
  virtual int pidfd() const = 0;

  // Our end of the control socket (SOCK_STREAM).
  virtual int control() const = 0;

  // At once, by SIGKILL. Does not reap.
  virtual void kill() = 0;

  // Closes control(), waits up to `grace` for the child to leave, then kills it, and reaps.
  // Idempotent. Blocks for at most `grace`: call it from a pool, or after pidfd() became readable.
  virtual ExitStatus stop(std::chrono::milliseconds grace) = 0;
};

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it holds a slash

  // Exactly this ("NAME=value"), never ours: a secret of the parent's must not reach a process that
  // parses strangers' files.
  std::vector<std::string> environment;
};

// Where processes come from; a test supplies its own. Thread-safe.
class Processes {
 public:
  virtual ~Processes() = default;

  // Errors: kNotFound (no such program), kUnavailable.
  virtual Result<std::unique_ptr<Process>> spawn(const ProcessSpec& spec) = 0;

  static Processes& real();
};

// The descriptor that a child finds its control socket at.
constexpr int kChildControlFd = 3;

}  // namespace hearth

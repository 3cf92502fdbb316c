// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/machine/journal.h"

namespace hearth::lab {

// How a server is run.
struct Launch {
  std::vector<std::string> argv;                // argv[0]: a path
  std::map<std::string, std::string> settings;  // of its environment, over ours
  std::string log;                              // what it prints is added to this file
  Journal* journal = nullptr;                   // told before the program runs; may be null
  std::function<bool()> stop{};                 // ends run_to_end(); may be empty
};

// A server that the lab started, with its children. It has a process group of its own, so that ^C
// is the lab's alone; when this object is gone, so are all of them. Not thread-safe.
class ServerProcess {
 public:
  // What would tell the server of somebody else's setup or models is taken out of its environment
  // (HEARTH_*, OLLAMA_*, LLAMA_ARG_*, HF_*, XDG_*). Errors: kNotFound, kUnavailable.
  static Result<std::unique_ptr<ServerProcess>> run(const Launch& launch);

  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool is_running() { return !reap(std::chrono::milliseconds{0}); }

  // With its children; empty once it has ended.
  std::vector<pid_t> tree() const;

  // Waits for its end, which what is left of its process group shares; false when it has not come
  // by then.
  bool reap(std::chrono::milliseconds patience);
  bool succeeded() const { return reaped_ && status_ == 0; }

  // "exit code 3", and the last lines that it printed since it was started.
  std::string last_words();
  // All that it printed since it was started.
  std::string output() const;

  // By SIGTERM, after `grace` by SIGKILL; children that outlive it too. Idempotent.
  void stop(std::chrono::milliseconds grace);

 private:
  ServerProcess(pid_t pid, std::string log, std::uint64_t log_begin)
      : pid_{pid}, log_{std::move(log)}, log_begin_{log_begin} {}

  pid_t pid_;
  std::string log_;
  std::uint64_t log_begin_;
  bool reaped_ = false;
  bool stopped_ = false;
  int status_ = 0;
};

// Runs a program to its end and returns what it printed. Errors: as run(); kUnavailable (it failed,
// or takes longer than `patience`); kCancelled (`stop`).
Result<std::string> run_to_end(const Launch& launch, std::chrono::seconds patience);

// Where a program is: a path as it is, made absolute, a name by PATH. Errors: kNotFound.
Result<std::string> find_program(const std::string& name);

}  // namespace hearth::lab

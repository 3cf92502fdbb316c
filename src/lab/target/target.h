// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/trial.h"

namespace hearth::lab {

// A fixed request: greedy, seeded, with as many new tokens as it says even where the model would
// end before.
struct Question {
  std::string model;  // empty: the one that the target was opened with
  std::string prompt;
  int new_tokens = 16;
  std::chrono::milliseconds patience{120'000};  // without a byte; then the trial is a failure
};

// What came of it, as a client sees it.
struct Answer {
  enum class Ending {
    kDone,
    kRefused,  // a status of 400 and above
    kHung,     // nothing came for as long as patience lasts
    kBroken,   // the connection ended before the answer did, or nobody listens
    kGarbage,  // what came is not the protocol
  };
  Ending ending = Ending::kDone;
  std::string problem;  // with anything but kDone
  Timing timing;        // start_ms is left to whoever started the server
  std::string text;
  bool goes_on_at_end = false;  // the server was told to write all tokens, and this kind does
  std::string model;            // as the reply names it
  std::string response_class;
  std::string verdict_code;
  std::string verdict_text;
  std::string report;  // see Trial::report
};

// A thing that can be done to a server so that it comes into a state.
enum class Step {
  kStop,             // no process of it is left
  kStart,            // it answers; how long that took is Target::last_start_ms()
  kLoad,             // the model's weights are resident
  kUnload,           // they are not; the server goes on
  kEndWorker,        // kill -9 of the process that holds the model
  kForgetPrompts,    // no state of prompts is kept in any tier
  kPromptsToMemory,  // none in the loaded model, all in memory beside it
  kPromptsToDisk,    // none in memory
  kRemoveModel,      // the model's bytes are gone; the server can fetch them again by itself
};
std::string_view name_of(Step step);

// The server under test: one process with its children, or an address. What a kind of server cannot
// do is refused with kUnsupported and the reason, which the report shows. Not thread-safe.
class Target {
 public:
  virtual ~Target() = default;

  virtual const std::string& name() const = 0;     // "hearth", "llama-server", ...
  virtual const std::string& version() const = 0;  // as it tells; may be empty

  // Of this machine; empty when the server runs elsewhere or is not running.
  virtual std::vector<pid_t> processes() const = 0;

  // Absolute paths, of what a start reads. Empty where they are not known.
  struct Paths {
    std::vector<std::string> model;         // in the order of reading
    std::vector<std::string> compiled;      // repacked weights, kernels
    std::vector<std::string> prompt_state;  // KV on disk
    std::vector<std::string> programs;      // executables and their libraries
  };
  virtual Paths paths() const = 0;

  // Idempotent; returns when it is so. Errors: kUnsupported (of this kind of server), kUnavailable
  // (it did not come to be so), with what a person would need to know.
  virtual Result<> take(Step step) = 0;
  virtual double last_start_ms() const = 0;  // 0: never started by us

  // Layer -> level, of a server that has levels; else empty.
  virtual std::map<std::string, std::string> levels() const = 0;

  // Never throws and has no Result: a bad server is a finding.
  virtual Answer ask(const Question& question) = 0;

  // Whether starting the process is part of what a client waits for when nothing runs: of a server
  // that is started for one model, not of one that stays up.
  virtual bool start_is_waited_for() const = 0;
};

}  // namespace hearth::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/trial.h"

namespace hearth::lab {

// Which part of a file is to be in the page cache.
enum class PagePattern {
  kSpread,  // pieces of 256 KiB all over it
  kHead,    // its beginning
};

// What a competing workload does.
enum class Competitor { kBackupScan, kDatabase, kFileServing, kProcessor, kMemory };
std::string_view name_of(Competitor competitor);  // "backup scan", ...

// Something that runs beside the server until it goes out of scope. Its work is real: files that it
// made in the lab's own directory are read, processors kept busy, memory taken.
class Competition {
 public:
  virtual ~Competition() = default;
  virtual Bytes done() const = 0;  // read, served or taken so far
};

// Counts from its making on; see Effects.
class EffectsMeter {
 public:
  virtual ~EffectsMeter() = default;
  virtual Effects read() = 0;
};

// The kernel's view of this machine, and what the lab may do to it. The real one is real_machine();
// tests have one of their own. Everything blocks. Not thread-safe.
class Machine {
 public:
  virtual ~Machine() = default;

  // ---- what is ----
  virtual StateProof observe(const std::vector<pid_t>& processes,
                             const std::vector<std::string>& files) const = 0;
  // `processes` is called at both ends: children come and go.
  using Processes = std::function<std::vector<pid_t>()>;
  virtual std::unique_ptr<EffectsMeter> watch(Processes processes) const = 0;
  // True as soon as nobody else uses the machine: less than 0.15 cores, PSI some below 5 % of
  // cpu and 10 % of memory and io.
  // False when `patience` has passed.
  virtual bool wait_for_quiet(std::chrono::milliseconds patience) const = 0;
  // The fastest that these files can be read, bytes per second: what lies above it is impossible.
  // nullopt: never measured.
  virtual std::optional<double> fastest_read(const std::string& file) = 0;
  // A JSON object: processors, memory, kernel, devices, file systems, power, limits; and under
  // "not_observable" what could not be found out, with the reason.
  virtual std::string description(const std::vector<std::string>& files) const = 0;

  // ---- what is done ----
  // So much of these files, 0 to 1, is resident afterwards, to within 1 %. Errors: kConflict (a
  // process maps them: pages that are mapped are not dropped; it says which), kUnavailable.
  virtual Result<> set_pages(const std::vector<std::string>& files, double share,
                             PagePattern pattern) = 0;
  // Errors: kNoSpace, kUnavailable.
  virtual Result<std::unique_ptr<Competition>> compete(Competitor competitor,
                                                       const std::string& directory) = 0;
  virtual void sleep(std::chrono::milliseconds duration) = 0;
};

// `stop` (^C; may be empty): whatever takes its time ends soon once it is true: waiting says that
// it is not quiet, competing work fails with kCancelled, sleeping returns.
std::unique_ptr<Machine> real_machine(std::function<bool()> stop = {});

}  // namespace hearth::lab

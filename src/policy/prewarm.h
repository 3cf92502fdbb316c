// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "policy/prewarm_ledger.h"

namespace hearth {

// A model that could be moved up, or give way to one that is.
struct PrewarmCandidate {
  std::string model;
  Bytes size{};            // of all that a start wants in memory
  Bytes resident{};        // of it, there already
  Bytes floor{};           // of it, not to be given up: pins, promises
  double probability = 0;  // that it is asked for within PrewarmRules::horizon
  Duration cold{};         // a start with nothing there takes so much longer than with all there
  bool busy = false;       // in use, loading or owed: neither given up nor read for
};

struct PrewarmRules {
  // A step is undone or confirmed within about so long, so chances are compared over it.
  Duration horizon = std::chrono::hours{1};
  // Waiting that a second of reading must be expected to save, in seconds; also the share of bytes
  // read that must turn out to be used. Reading costs wear, power and others' time at the device,
  // and nobody waits for it: a quarter of a person's time.
  double least_gain = 0.25;
  // Read ahead per day at most; what is not used up carries over for one day.
  Bytes bytes_a_day{std::uint64_t{64} << 30};
  // One step, so that a request that comes meanwhile waits for no more, and chances are looked at
  // again.
  Bytes step{std::uint64_t{256} << 20};
};

struct PrewarmStep {
  struct Release {
    std::string model;
    Bytes bytes{};
  };
  std::string model;
  Bytes bytes{};                  // to be read, at idle priority
  std::vector<Release> releases;  // first; with what is free they make room
};

// Decides which model is moved up while nobody asks, and at whose cost: where a byte of memory
// saves more waiting with one model than with another, by so much that reading it pays. Not
// thread-safe; no clock: times are of CLOCK_BOOTTIME.
class Prewarmer {
 public:
  explicit Prewarmer(PrewarmRules rules) : rules_{rules} {}

  // What to do next, or nothing, if all is as well as it can be or the day's bytes are used up.
  // `free` is what may be filled without taking anything from anybody. `read_bytes_per_s` is the
  // device's rate.
  std::optional<PrewarmStep> next(std::span<const PrewarmCandidate> candidates, Bytes free,
                                  double read_bytes_per_s, Duration now);

  // What came of it. A step that was cut short is noted with what it did read.
  void note_read(const std::string& model, Bytes bytes, Duration now);
  void note_used(const std::string& model, double seconds_per_byte, Duration now);
  void note_resident(const std::string& model, Bytes resident, Bytes size, Duration now);

  const PrewarmLedger& ledger() const { return ledger_; }
  // Left of the day's bytes.
  Bytes allowance(Duration now) const;
  const PrewarmRules& rules() const { return rules_; }
  void set_rules(PrewarmRules rules);

 private:
  PrewarmRules rules_;
  PrewarmLedger ledger_;
  std::optional<Duration> filled_at_{};  // the allowance stood at `allowance_` then
  double allowance_ = 0;
};

}  // namespace hearth

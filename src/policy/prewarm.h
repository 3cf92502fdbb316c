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

// The defaults of the first three were chosen on made-up households (seeds 1 to 40 of the
// generator) where the results no longer change much with them; docs/levels.md shows how much they
// do.
struct PrewarmRules {
  // A step is undone or confirmed within about so long, so chances are compared over it.
  Duration horizon = std::chrono::hours{2};
  // Waiting that a second of reading must be expected to save, in seconds; also the share of bytes
  // read that must turn out to be used. Reading costs wear, power and others' time at the device,
  // and nobody waits for it: a fifth of a person's time.
  double least_gain = 0.2;
  // Bytes that may be read ahead for each byte that is read while somebody waits, and for each one
  // read ahead that a request finds. Below 1: less is wasted than is read for requests.
  double earned_share = 0.8;
  // Read ahead per day at most; what is not used up carries over for one day.
  Bytes bytes_a_day{std::uint64_t{64} << 30};
  // One step, so that a request that comes meanwhile waits for no more, and chances are looked at
  // again.
  Bytes step{std::uint64_t{256} << 20};
  // No step is smaller, unless it is the last that a model wants: chances drift all the time, and a
  // few bytes to and fro help nobody.
  Bytes least_step{std::uint64_t{16} << 20};
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

  // What to do next, or nothing, if all is as well as it can be or nothing may be read.
  // `free` is what may be filled without taking anything from anybody. `read_bytes_per_s` is the
  // device's rate.
  std::optional<PrewarmStep> next(std::span<const PrewarmCandidate> candidates, Bytes free,
                                  double read_bytes_per_s, Duration now);

  // So much was read while a request waited for it: this is what earns prewarming its first bytes
  // (PrewarmRules::earned_share). Where nobody waits, it rests.
  void note_demand(Bytes bytes);

  // What came of a step. One that was cut short is noted with what it did read.
  void note_read(const std::string& model, Bytes bytes, Duration now);
  void note_used(const std::string& model, double seconds_per_byte, Duration now);
  void note_resident(const std::string& model, Bytes resident, Bytes size, Duration now);

  const PrewarmLedger& ledger() const { return ledger_; }
  // What may be read now: the lesser of what is left of the day's bytes and what is earned.
  Bytes allowance(Duration now) const;
  const PrewarmRules& rules() const { return rules_; }
  void set_rules(PrewarmRules rules);

 private:
  void earn(Bytes bytes);
  Bytes left_of_day(Duration now) const;

  PrewarmRules rules_;
  PrewarmLedger ledger_;
  std::optional<Duration> filled_at_{};  // the allowance stood at `allowance_` then
  double allowance_ = 0;
  double earned_ = 0;  // bytes; a day's at most
};

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/prewarm.h"

namespace hearth::front {

// What is kept of prewarming over restarts. Times are of a LastingTime.
struct PrewarmNotes {
  struct Model {
    PrewarmAccount account;
    Bytes unused{};          // of what was read, neither used nor given up yet
    Duration rests_until{};  // zero: it does not rest
  };
  std::map<std::string, Model> models{};  // by artifact
  Bytes day_left{};                       // of the day's bytes, ...
  Bytes earned{};  // and what Prewarmer::note_demand() and note_used() allow, ...
  Duration at{};   // ... as of then
};

// A Prewarmer that outlives restarts and replaced files. A restart costs what the ledger alone
// knows: how long a model's last rest was, so that the next one is a day again. `now` is a
// LastingTime's. Not thread-safe.
class PrewarmBook {
 public:
  explicit PrewarmBook(PrewarmRules rules) : rules_{rules}, prewarmer_{rules} {}

  void set_rules(PrewarmRules rules);
  const PrewarmRules& rules() const { return rules_; }

  // See Prewarmer.
  std::optional<PrewarmStep> next(std::span<const PrewarmCandidate> candidates, Bytes free,
                                  double read_bytes_per_s, Duration now);
  void note_demand(Bytes bytes);
  void note_read(const std::string& artifact, Bytes bytes, Duration now);
  void note_used(const std::string& artifact, double seconds_per_byte, Duration now);
  void note_resident(const std::string& artifact, Bytes resident, Bytes size, Duration now);
  Bytes allowance(Duration now) const { return prewarmer_.allowance(now); }

  // Its file was replaced: what it cost stays with the new one, what lay unused is wasted.
  void rename(const std::string& from, const std::string& to, Duration now);
  void forget(const std::string& artifact, Duration now);

  std::vector<std::string> models() const;
  PrewarmAccount account(const std::string& artifact) const;
  Bytes unused(const std::string& artifact) const { return prewarmer_.ledger().unused(artifact); }
  // nullopt: it does not rest.
  std::optional<Duration> rests_until(const std::string& artifact, Duration now) const;

  PrewarmNotes notes(Duration now) const;
  // The time since the notes were made fills the day's bytes; nothing lay in memory meanwhile.
  void take(PrewarmNotes notes, Duration now);

  // Grows with whatever is worth being kept.
  std::uint64_t version() const { return version_; }

 private:
  PrewarmRules rules_;
  Prewarmer prewarmer_;
  std::map<std::string, PrewarmNotes::Model> before_;  // what the ledger of this run lacks
  std::uint64_t version_ = 0;
};

}  // namespace hearth::front

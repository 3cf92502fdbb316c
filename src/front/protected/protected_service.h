// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "front/config/protected_options.h"
#include "front/protected/give_way.h"
#include "front/protected/harm.h"
#include "front/protected/probe.h"
#include "front/protected/service_source.h"

namespace hearth::front {

// One service that comes first: where its figures come from, what they say, and what is given up
// for it. Belongs to the loop, but for its source, which belongs to whoever reads it.
class ProtectedService {
 public:
  enum class State { kUnknown, kWell, kHarmed, kGone };

  // One of both, or none where `trouble` says why it cannot be watched.
  struct Means {
    std::unique_ptr<ServiceSource> source;
    std::unique_ptr<Probe> probe;
    std::string trouble;
  };
  ProtectedService(std::string name, ProtectedOptions options, Means means, int threads);

  const std::string& name() const { return name_; }
  const ProtectedOptions& options() const { return options_; }
  ServiceSource* source() { return means_.source.get(); }
  Probe* probe() { return means_.probe.get(); }

  using Hearth = HarmJudge::Hearth;
  // What the source has read, and what Hearth did since the reading before.
  void take(TimePoint at, const ServiceSource::Reading& reading, Hearth hearth);
  // What the probe came back with. `hearth`: absent where it did both.
  void take(TimePoint at, const Result<Probe::Answer>& answer, std::optional<Hearth> hearth);

  // The next question of a probe had better come soon.
  bool in_a_hurry() const;

  // Judges, and moves at most one step. `wall_us`: for since_us. `all`: what is given to it and all
  // others together.
  void look(TimePoint now, std::int64_t wall_us, const GiveWay& all);

  // It is watched no longer: gives nothing, and its probe ends.
  void end();
  bool ended() const { return ended_; }

  State state() const { return state_; }
  GiveWay given() const { return ladder_.given(); }
  std::string reason() const;  // one sentence without its dot; empty: nothing to say
  std::string json() const;

 private:
  struct Counted {
    TimePoint at;
    ServiceCounts counts;
  };
  void take_runs(const Counted& now, Hearth hearth);
  void take_waits(const Counted& now, Hearth hearth);
  void gone(std::string why);
  State judged(const Harm& harm) const;
  std::string harm_text() const;

  const std::string name_;
  const ProtectedOptions options_;
  Means means_;
  HarmJudge judge_;
  GiveWayLadder ladder_;
  Harm harm_;
  State state_ = State::kUnknown;
  std::int64_t since_us_ = 0;
  bool there_ = false;  // as far as the last reading or answer says
  int failures_ = 0;    // of the probe, in a row
  bool ended_ = false;
  // Where the latency and the waits that are being counted begin, and what Hearth did since.
  std::optional<Counted> runs_from_, waits_from_, last_;
  std::optional<Hearth> runs_hearth_;
  bool waits_busy_ = false;
};

// "process", "cgroup" or "url".
const char* kind_of(const ProtectedOptions& options);

}  // namespace hearth::front

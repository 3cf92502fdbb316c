// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/beat.h"
#include "policy/instant.h"

namespace hearth {

// What is kept of one model's requests. They come in bouts: a conversation, a morning of coding, or
// one ring of the door bell. When bouts start is learnt by hour of the week; how long a pause
// within one lasts, by a table of pauses. All counts are of a decaying past, so they are not whole.
struct ArrivalNotes {
  static constexpr int kHours = 168;  // of a week, from Thursday 0:00, as 1970 began
  static constexpr int kPauses = 8;   // up to 15 s, 30 s, ... 15 min, and the ends of bouts

  struct Hour {
    double bouts = 0;
    double watched = 0;  // hours during which somebody would have seen one
  };

  std::array<Hour, kHours> hours{};
  std::array<double, kPauses> pauses{};
  Duration watched{};              // a time line of its own: goes on over restarts, never back
  std::vector<Duration> recent{};  // the last arrivals on it, oldest first, at most kRecent
  double rate_weight = 0;          // see ArrivalModel::recent_per_hour(), as of the last arrival
  std::optional<Instant> seen{};   // the last moment that was told

  static constexpr std::size_t kRecent = 32;
};

// When the next request will come. Quartiles of its distribution, from now on.
struct NextArrival {
  Duration earliest{};
  Duration likely{};
  Duration latest{};
};

// Learns when one model is asked for, and forecasts it. What is expected at one hour of the week is
// drawn towards that hour of any day, and this towards the average, so that two days teach
// something and one odd day little. Regular timers are found and forecast by their beat.
//
// Clocks may jump: a wall clock that is set moves the hour that is learnt for, and nothing else.
// Time during which nobody watched (observe() was not called for longer than kWatch: the server was
// down, the machine asleep) teaches neither presence nor absence. Not thread-safe; no clock, no
// files.
class ArrivalModel {
 public:
  ArrivalModel() = default;
  // Takes up what another run learnt. The time between is taken from the wall clock, if it can be.
  explicit ArrivalModel(ArrivalNotes notes);

  // Nothing came up to now. To be called more often than once in kWatch.
  void observe(const Instant& now);
  // One request came.
  void note(const Instant& at);

  // That one comes within so long from `now`; in [0, 1].
  double probability(const Instant& now, Duration within) const;
  // The mean rate at which a first next one is to be expected during `within`, per hour. It orders
  // models as probability() does, and goes on where that one comes close to 1.
  double expected_per_hour(const Instant& now, Duration within) const;
  // nullopt if within a week none is more likely than not.
  std::optional<NextArrival> next(const Instant& now) const;

  // The same without the hours of the week and beats: as if bouts came at any time at their mean
  // rate, believed the less the longer it has been silent.
  double steady_per_hour(const Instant& now, Duration within) const;
  // What the last hour or so brought: an exponential mean.
  double recent_per_hour(const Instant& now) const;

  // Since the last one; nullopt if there never was one.
  std::optional<Duration> silence(const Instant& now) const;
  const std::optional<Beat>& beat() const { return beat_; }

  const ArrivalNotes& notes() const { return notes_; }  // to be kept: see arrivals_json.h

  static constexpr Duration kWatch = std::chrono::minutes{10};
  static constexpr Duration kBout = std::chrono::minutes{15};  // a longer silence ends a bout

 private:
  Duration since_seen(const Instant& now) const;
  double bouts_per_hour(int hour) const;
  double bouts_per_hour_at(double hour_of_week) const;
  // -log of the probability that nothing comes, `ahead` from now.
  double hazard(const Instant& now, Duration ahead) const;
  double bouts_hazard(const Instant& now, Duration ahead) const;
  double pause_hazard(Duration silence, Duration ahead) const;
  void sum_up_hours();

  ArrivalNotes notes_;
  bool resumed_ = false;  // `seen` is another run's, so that its boot clock may be another boot's
  double bouts_ = 0;      // sums over all hours
  double hours_watched_ = 0;
  std::optional<Beat> beat_;
};

}  // namespace hearth

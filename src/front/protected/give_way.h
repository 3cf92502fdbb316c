// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "front/protected/harm.h"
#include "wire/messages.h"

namespace hearth::front {

// What Hearth gives up for one service, or for all together.
struct GiveWay {
  wire::GiveWayMessage compute;  // what evaluation may take
  bool prewarm = true;           // loads that nobody waits for go on
  bool memory = false;           // give memory back, move by move
  bool pins = false;             // pinned pages too

  friend bool operator==(const GiveWay& a, const GiveWay& b) {
    return a.compute.threads == b.compute.threads && a.compute.percent == b.compute.percent &&
           a.prewarm == b.prewarm && a.memory == b.memory && a.pins == b.pins;
  }
};

// The harder of both in each respect.
GiveWay both(const GiveWay& a, const GiveWay& b);

// For people: "threads", "percent", "prewarming", "memory", "pins"; nothing: no way is given.
std::vector<std::string> names_of(const GiveWay& given);

// How far Hearth gives way to one service. It goes down one step at a time, each given a while to
// show what it does; and up again one at a time, slowly, and more slowly each time that a step up
// was followed by harm.
//
//   step   compute                 memory (harm by memory alone begins here)
//   1      half of the threads
//   2      and half of the time
//   3      a quarter of both
//   4, 5   as before               free memory; then, where that is allowed, release pins
//
// Prewarming ends with the first step, for it serves nobody who waits. Pure; not thread-safe.
class GiveWayLadder {
 public:
  enum class Pins { kKeep, kRelease };
  struct Limits {
    int threads = 1;  // that evaluate when nobody is harmed
    Pins pins = Pins::kKeep;
  };
  explicit GiveWayLadder(Limits limits);

  enum class Move { kNone, kMoreWay, kLessWay };
  // A few times a second, in order of time.
  Move look(TimePoint now, const Harm& harm);

  // Nothing is given any more, at once: there is nobody to give it to.
  void leave();

  GiveWay given() const;
  bool gives() const { return compute_ > 0 || memory_ > 0; }

 private:
  bool may_go_down(const Harm& harm) const;
  void go_down(const Harm& harm);
  void go_up();

  Limits limits_;
  int compute_ = 0;  // steps, 0 to 3
  int memory_ = 0;   // steps, 0 to 2
  TimePoint looked_at_, moved_at_;
  Duration well_{};       // without harm since the last move, as far as it counts
  Duration patience_;     // that much of it comes before a step up
  Duration to_show_{};    // what the last step down takes to show what it does
  bool went_up_ = false;  // the last move was a step up
};

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/stage.h"

namespace hearth {

// A stage as one request sees it: clipped to the request, and counted from its first byte in.
struct TimedStage {
  StageKind kind = StageKind::kQueue;
  Duration start{};
  Duration length{};
  Bytes bytes{};        // of the whole stage, also where only a part of it fell into this request
  bool shared = false;  // had begun before the request came: a load that it joined
};

// What a timeline adds up to. All durations are of the request alone, never of stages outside it.
struct Timings {
  std::vector<TimedStage> stages{};  // by start, then in the order of StageKind
  Duration total{};                  // first byte in to last byte out
  Duration covered{};                // the union of all stages
  Duration overlap{};                // sum - union: what running stages side by side saved
  Duration other{};                  // total - union: time that no stage accounts for
  Duration queued{};                 // the union of kQueue
  bool shared = false;               // some stage is

  // The union of the stages of these kinds, so that nested ones count once.
  Duration time_in(std::initializer_list<StageKind> kinds) const {
    return time_in(std::vector<StageKind>{kinds});
  }
  Duration time_in(const std::vector<StageKind>& kinds) const;
  bool has(StageKind kind) const;
};

// Collects the stages of one request from whoever stamped them, in any order.
// Not thread-safe; belongs to the loop that owns the request.
class Timeline {
 public:
  void begin(TimePoint first_byte) { first_byte_ = first_byte; }
  void add(const Stage& stage) { stages_.push_back(stage); }
  void add(const std::vector<Stage>& stages);
  void finish(TimePoint last_byte);

  // The answer was handed to the client at `last_byte`: the stage that made its last part, of the
  // kinds first_decode, decode and prefill, lasts until then. To whoever waits, a token that is
  // still on its way has not been made; on a busy machine that takes milliseconds.
  void deliver(TimePoint last_byte);

  TimePoint first_byte() const { return first_byte_; }
  bool has(StageKind kind) const;

  // Until finish() the request is taken to end with its latest stage, which is what headers that
  // leave with the first token can know. A stage that lies outside the request keeps its bytes and
  // has no length.
  Timings timings() const;

 private:
  TimePoint end() const;

  TimePoint first_byte_;
  TimePoint last_byte_;
  bool finished_ = false;
  std::vector<Stage> stages_;
};

}  // namespace hearth

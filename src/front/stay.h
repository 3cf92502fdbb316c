// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/event_loop.h"
#include "front/keep_alive.h"

namespace hearth::front {

// Who needs a model's weights: whoever does keeps them from being given back, and its end begins
// their time. Reading of tokens alone does neither.
enum class Use { kWeights, kTokenizer };

// A keep_alive and who set it: "request", "configuration", "OLLAMA_KEEP_ALIVE", "default", "pin".
struct StayTerms {
  KeepAlive keep_alive = KeepAlive::until_wanted();
  std::string source = "default";
};

// How long one model's weights stay when nobody asks for it. The wish of the last request that
// reached the worker holds, until the next one (with or without a wish of its own) or until the
// weights go; without any it is the default's. Time runs from the moment when the last request has
// left, or from the load's end if that comes later, and stands still while anybody is in or waits.
// A pin holds them whatever was wished.
//
// Time is CLOCK_MONOTONIC: a machine's sleep does not count. Belongs to the loop.
class Stay {
 public:
  // `give_back` is called from the loop when the time is up, with nobody in or waiting.
  Stay(EventLoop& loop, const Clock& clock, std::function<void()> give_back)
      : loop_{loop}, clock_{clock}, give_back_{std::move(give_back)} {}
  ~Stay() { disarm(); }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  // Takes effect at once where no request's wish holds.
  void set_default(StayTerms terms);

  enum class Pin { kPinned, kLoose };
  void set_pin(Pin pin);

  // A request wants the weights: from here to leave() they stay.
  void arrive();
  // It is in the worker's hands, so that it counts as use and its wish holds.
  void reach(const std::optional<KeepAlive>& wish);
  // The weights are to go with the last one who is in now; a request that reaches the worker later
  // has the last word.
  void release() { reach(KeepAlive::after(Duration::zero())); }
  enum class Left { kServed, kTurnedAway };
  void leave(Left how);

  // Whether somebody is in or waits.
  bool in_use() const { return users_ > 0; }

  // What the weights do.
  void resident();
  void gone();

  // What holds now.
  StayTerms terms() const;
  // Microseconds since 1970; absent while somebody is in or waits, nothing is resident, or the
  // weights stay until wanted.
  std::optional<std::int64_t> expires_at_us() const { return expires_at_us_; }

  // The terms under which the time ran out last.
  const std::optional<StayTerms>& expired() const { return expired_; }

 private:
  void arm();
  void disarm();
  void expire();

  EventLoop& loop_;
  const Clock& clock_;
  std::function<void()> give_back_;
  StayTerms default_;
  std::optional<KeepAlive> wish_;
  bool pinned_ = false;
  bool resident_ = false;
  int users_ = 0;
  TimePoint since_{};  // nobody has used them, as far as nobody does
  EventLoop::TimerId timer_ = 0;
  std::optional<std::int64_t> expires_at_us_;
  std::optional<StayTerms> expired_;
};

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/pins.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hearth::front {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds{100};
constexpr Duration kLongestPause = std::chrono::minutes{5};
// What held for so long does not fail again and again.
constexpr Duration kSteady = std::chrono::minutes{1};

}  // namespace

Pins::Pins(World world) : world_{std::move(world)}, changed_{world_.loop}, tasks_{world_.loop} {}

void Pins::set(std::set<PinKey> pins) {
  if (tasks_.closed()) return;
  pins_ = std::move(pins);
  for (const PinKey& pin : std::set<PinKey>{pins_}) {
    if (tended_.insert(pin).second) world_.loop.spawn(tend(pin));
  }
  changed_.notify_all();
}

Task<void> Pins::tend(PinKey pin) {
  const auto pass = tasks_.enter();
  Duration pause = kFirstPause;
  while (pins_.contains(pin)) {
    const Duration held = co_await hold_until_lost(pin);
    if (held > kSteady) pause = kFirstPause;
    const TimePoint again = world_.loop.now() + pause;
    pause = std::min(2 * pause, kLongestPause);
    while (pins_.contains(pin) && world_.loop.now() < again) {
      (void)co_await changed_.wait_until(again);
    }
  }
  world_.let_go(pin);
  tended_.erase(pin);
}

// How long it held; nothing where it could not be made true.
Task<Duration> Pins::hold_until_lost(PinKey pin) {
  if (!world_.holds(pin)) {
    const Result<> held = co_await world_.hold(pin);
    if (!held && pins_.contains(pin)) {
      log::warn("pin.not_held", {{"artifact", pin.artifact.substr(0, 12)},
                                 {"layer", pin.layer},
                                 {"reason", held.error().message()}});
    }
  }
  const TimePoint since = world_.loop.now();
  while (pins_.contains(pin) && world_.holds(pin)) co_await changed_.wait();
  co_return world_.loop.now() - since;
}

Task<void> Pins::stop() {
  pins_.clear();
  changed_.notify_all();
  co_await tasks_.close();
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "policy/household/house.h"

namespace hearth::household {

struct Release {
  std::size_t model = 0;
  Bytes bytes{};
};

// What a strategy does of itself.
struct Action {
  std::vector<Release> releases;  // first
  std::size_t model = 0;          // for which, then,
  Bytes read{};                   // so much is read ahead; a request cuts it short
};

// Who stays in memory: Hearth's rules, or somebody else's. One object serves one replay.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;

  // kHollow: a worker without weights waits for each model, so that a start needs no set-up; and
  // what nobody uses is clean page cache that anybody may take.
  enum class Waiting { kGone, kHollow };
  virtual Waiting waiting() const { return Waiting::kGone; }

  // A request comes; the house is as it finds it. Said once of each.
  virtual void arrived(const House&, std::size_t /*model*/) {}
  // What gives way so that all of `model` fits, whose request waits. nullopt: not while others are
  // busy; it is asked again when one of them ends.
  virtual std::optional<std::vector<Release>> make_room(const House& house, std::size_t model) = 0;

  // When it next does something of itself; in the past: now. nullopt: not before something happens.
  virtual std::optional<Duration> wake(const House&) const { return std::nullopt; }
  virtual Action act(const House&) { return {}; }
  // So much of what act() wanted was read.
  virtual void has_read(const House&, std::size_t /*model*/, Bytes) {}
};

}  // namespace hearth::household

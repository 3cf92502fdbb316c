// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"

namespace hearth::front {

// Memory that is set aside for one model's weights, from before they are read until they are given
// back. It goes with the object.
class LoadLeave {
 public:
  virtual ~LoadLeave() = default;
};

// For whom a model is loaded. What nobody waits for takes only what others leave: memory, disk and
// processors.
enum class LoadFor { kRequest, kAsked, kNobody };

struct PlaceInLine {
  int ahead = 0;  // models that are loaded before it
  // Until its weights are resident, if nothing but the loads before it and its own took time.
  std::optional<Duration> earliest{};
};

struct LoadWish {
  std::string artifact;  // id
  std::string name;      // for messages
  LoadFor load_for = LoadFor::kRequest;
  Bytes memory;    // that the load will take, about; of the machine's,
  Bytes device;    // and of GPUs'
  Bytes mapped{};  // of `memory`: pages of the model's files

  // Told where the load stands in the line, now and then while it waits. May be empty.
  std::function<void(const PlaceInLine&)> on_wait = {};
};

// Decides whether and when a model may be loaded. Belongs to the loop.
class LoadGate {
 public:
  virtual ~LoadGate() = default;

  // Returns once there is room, having moved other models down for it where need be. `wanted` says
  // whether the load still is; it is asked after every change and poke(). Errors: kNoSpace, with
  // the numbers, when no room can be made; for LoadFor::kNobody when there is none now. kCancelled
  // once it is not wanted.
  virtual Task<Result<std::unique_ptr<LoadLeave>>> enter(LoadWish wish,
                                                         std::function<bool()> wanted) = 0;
  virtual void poke() = 0;
};

}  // namespace hearth::front

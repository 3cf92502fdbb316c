// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "base/fd.h"
#include "wire/messages.h"

namespace hearth::front {

// Leave to read from a device. Given back with the object.
class DiskTicket {
 public:
  virtual ~DiskTicket() = default;
};

// A stored repack for a load, if there is one that fits.
struct StoredRepack {
  std::optional<Fd> file;
  bool check = true;    // see LoadMessage::check_stored
  std::string content;  // see LoadMessage::content
};

// How one load is to go.
struct LoadPlan {
  wire::LoadMessage message;
  std::optional<Fd> stored;            // with message.stored: the stored repack
  std::unique_ptr<DiskTicket> ticket;  // held until the worker has read what it needs; may be null
  Duration waited{};                   // for somebody else who read from the same device
};

// Decides how loads go. Belongs to the loop.
class LoadPlanner {
 public:
  virtual ~LoadPlanner() = default;

  // May wait, for a device that another load is reading from. `ready`: what the worker said of
  // itself. Never fails: what cannot be found out is left at its default.
  virtual Task<LoadPlan> plan(std::string artifact, wire::ReadyMessage ready) = 0;
};

}  // namespace hearth::front

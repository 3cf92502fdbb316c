// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/fd.h"
#include "front/prefix/prefix_room.h"
#include "wire/messages.h"

namespace hearth::front {

// What workers and their requests ask of the prompt state that is kept beyond live cells. Where the
// layer is off there is none. Belongs to the loop; outlives the hosts.
class PrefixPlans {
 public:
  virtual ~PrefixPlans() = default;

  // ---- one model's worker ----
  // A worker is ready: the memory to send it with kArena, if any.
  virtual std::optional<Fd> arena(const std::string& artifact) = 0;
  // It is gone, with all that its requests were told.
  virtual void worker_lost(const std::string& artifact) = 0;
  virtual void note_blocks(std::uint64_t request, const wire::BlocksMessage& blocks) = 0;

  // ---- one request ----
  // Whose prompts may be shared with those of this key, by its id.
  virtual std::string group_of(const std::string& key) const = 0;
  // Takes out of a prompt what changes from request to request; the number of places.
  virtual int normalise(wire::GenerateMessage& message) const = 0;
  // GenerateMessage::domain.
  virtual std::string domain(const PrefixRoom::Use& use) const = 0;
  // The frames that answer kTokenized.
  virtual Task<std::vector<wire::Frame>> plan(PrefixRoom::Ask ask) = 0;
  // Of the last plan() for this request.
  virtual PrefixRoom::Found found(std::uint64_t request) const = 0;
  // Likewise, until it has started: tokens that earlier prompts had, too, behind a place that is
  // another one in each prompt.
  virtual int behind_volatile_head(std::uint64_t) const { return 0; }
  virtual void note_started(std::uint64_t request, const wire::StartedMessage& started) = 0;
  // The worker's kDone has come.
  virtual void note_replied(std::uint64_t) {}
  // It ended without the worker's kDone.
  virtual void close(std::uint64_t request) = 0;
};

}  // namespace hearth::front

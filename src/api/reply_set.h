// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/call.h"
#include "api/generation.h"
#include "base/sync.h"
#include "front/reply.h"

namespace hearth::api {

// Several replies to one request, which run at once. Belongs to the loop. Dropping it cancels those
// that are under way.
class ReplySet {
 public:
  // Each gets a seed of its own, where the request has one: seed + index. A client that goes away
  // cancels them all. `call` outlives it, with a loop in its options.
  ReplySet(Call& call, const GenerateCall& request, int count);
  ~ReplySet();
  ReplySet(const ReplySet&) = delete;
  ReplySet& operator=(const ReplySet&) = delete;

  struct Arrival {
    int index;
    front::Event event;
  };
  // The next event of any of them; nothing once each has had its last one.
  Task<std::optional<Arrival>> next();

  // Each that is still under way ends with Refused.
  void cancel();

  front::Reply& reply(int index) { return *state_->replies[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(state_->replies.size()); }

 private:
  struct State {
    explicit State(EventLoop& loop) : arrivals{loop} {}
    std::vector<std::unique_ptr<front::Reply>> replies;
    Mailbox<Arrival> arrivals;
  };
  static Task<void> pump(std::shared_ptr<State> state, int index);

  http::Exchange& exchange_;
  // Also of the tasks that wait for the replies' events, which end with the last of these.
  std::shared_ptr<State> state_;
  int open_;
};

}  // namespace hearth::api

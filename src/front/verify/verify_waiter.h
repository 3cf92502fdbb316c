// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>

#include "base/event_loop.h"
#include "base/sync.h"
#include "front/transfer.h"

namespace hearth::front {

// One who waits for a verify: every verdict is kept for it until it is taken; of progress, the
// newest alone. Belongs to the loop.
class VerifyWaiter : public Transfer {
 public:
  enum class Left { kGone, kDetached };
  // Called once, when it stops waiting, unless the work ended first.
  using OnLeft = std::function<void(VerifyWaiter&, Left)>;

  VerifyWaiter(EventLoop& loop, OnLeft on_left) : on_left_{std::move(on_left)}, told_{loop} {}
  ~VerifyWaiter() override { leave(); }
  VerifyWaiter(const VerifyWaiter&) = delete;
  VerifyWaiter& operator=(const VerifyWaiter&) = delete;

  Task<TransferEvent> next() override;
  void cancel() override;
  void detach() override { detached_ = true; }

  void tell(TransferEvent event);
  // The last event: the work knows this waiter no more.
  void finish(TransferEvent last);

 private:
  void leave();

  OnLeft on_left_;  // empty once it has left
  Notify told_;
  std::deque<TransferEvent> events_;
  bool ended_ = false;
  bool detached_ = false;
};

}  // namespace hearth::front

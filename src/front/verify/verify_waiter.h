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
  // Called once, unless the work ended first.
  using OnLeft = std::function<void(VerifyWaiter&, Left)>;

  VerifyWaiter(EventLoop& loop, OnLeft on_left) : on_left_{std::move(on_left)}, told_{loop} {}
  ~VerifyWaiter() override { leave(Left::kGone); }
  VerifyWaiter(const VerifyWaiter&) = delete;
  VerifyWaiter& operator=(const VerifyWaiter&) = delete;

  Task<TransferEvent> next() override;
  void cancel() override;
  void detach() override { leave(Left::kDetached); }

  void tell(TransferEvent event);
  // The last event: the work knows this waiter no more.
  void finish(TransferEvent last);

 private:
  void leave(Left how);

  OnLeft on_left_;  // empty once it has left
  Notify told_;
  std::deque<TransferEvent> events_;
  bool ended_ = false;
};

}  // namespace hearth::front

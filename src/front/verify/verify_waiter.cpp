// SPDX-License-Identifier: Apache-2.0
#include "front/verify/verify_waiter.h"

#include <utility>

namespace hearth::front {

void VerifyWaiter::leave() {
  const Left how = detached_ ? Left::kDetached : Left::kGone;
  if (OnLeft on_left = std::exchange(on_left_, nullptr)) on_left(*this, how);
}

void VerifyWaiter::tell(TransferEvent event) {
  if (ended_) return;
  const bool stale = !events_.empty() && std::holds_alternative<TransferProgress>(events_.back());
  if (stale) events_.pop_back();
  events_.push_back(std::move(event));
  told_.notify_all();
}

void VerifyWaiter::finish(TransferEvent last) {
  on_left_ = nullptr;
  tell(std::move(last));
  ended_ = true;
}

Task<TransferEvent> VerifyWaiter::next() {
  while (events_.empty()) co_await told_.wait();
  TransferEvent event = std::move(events_.front());
  events_.pop_front();
  co_return event;
}

void VerifyWaiter::cancel() {
  if (ended_) return;
  events_.clear();
  leave();
  finish(Error{ErrorCode::kCancelled, "nobody waits for it any more"});
}

}  // namespace hearth::front

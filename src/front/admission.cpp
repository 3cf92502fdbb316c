// SPDX-License-Identifier: Apache-2.0
#include "front/admission.h"

#include <algorithm>

namespace hearth::front {

Task<Result<Admission::Place>> Admission::enter(const bool* cancelled,
                                                std::function<void(int ahead)> on_wait) {
  const bool must_wait = !line_.empty() || paused_ > 0 || active_ >= parallel_;
  if (must_wait && waiting() >= queue_limit_) {
    co_return fail(ErrorCode::kBusy, "the queue of this model is full (" +
                                         std::to_string(queue_limit_) + " requests wait)");
  }
  const std::uint64_t ticket = next_ticket_++;
  line_.push_back(ticket);
  std::optional<int> told;
  while (!*cancelled && !may_enter(ticket)) {
    const int ahead = static_cast<int>(std::ranges::find(line_, ticket) - line_.begin());
    if (on_wait && told != ahead) on_wait(ahead);
    told = ahead;
    co_await changed_.wait();
  }
  line_.erase(std::find(line_.begin(), line_.end(), ticket));
  if (*cancelled) {
    changed_.notify_all();  // the one behind may be first now
    co_return fail(ErrorCode::kCancelled, "cancelled while waiting in the queue");
  }
  ++active_;
  // Several places may have come free at once.
  if (!line_.empty() && active_ < parallel_) changed_.notify_all();
  co_return Place{this};
}

Task<void> Admission::change(TimePoint until) { (void)co_await changed_.wait_until(until); }

Task<void> Admission::drained() {
  while (active_ > 0) co_await changed_.wait();
}

}  // namespace hearth::front

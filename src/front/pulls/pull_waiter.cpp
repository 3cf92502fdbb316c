// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/pull_waiter.h"

#include <utility>

namespace hearth::front {
namespace {

bool same_step(const TransferProgress& a, const TransferProgress& b) {
  return a.stage == b.stage && a.file == b.file;
}

}  // namespace

PullWaiter::PullWaiter(EventLoop& loop, std::string name, OnLeft on_left)
    : loop_{loop}, name_{std::move(name)}, on_left_{std::move(on_left)}, changed_{loop} {}

PullWaiter::~PullWaiter() { leave(); }

void PullWaiter::leave() {
  const Left how = detached_ ? Left::kDetached : Left::kGone;
  if (OnLeft on_left = std::exchange(on_left_, nullptr)) on_left(*this, how);
}

void PullWaiter::tell(TransferProgress progress) {
  if (last_) return;
  if (!told_.empty() && same_step(told_.back(), progress)) told_.pop_back();
  told_.push_back(std::move(progress));
  changed_.notify_all();
}

void PullWaiter::finish(TransferEvent last, std::vector<Stage> stages) {
  on_left_ = nullptr;
  if (last_) return;
  stages_ = std::move(stages);
  last_.emplace(std::move(last));
  changed_.notify_all();
}

// A new step is told of at once, and so is the end of one, for there are few of them.
std::optional<TimePoint> PullWaiter::due() const {
  if (told_.empty()) return std::nullopt;
  const bool at_once = last_ || told_.size() > 1 || !taken_ || !same_step(*taken_, told_.front());
  return at_once ? loop_.now() : taken_at_ + kLeastApart;
}

Task<TransferEvent> PullWaiter::next() {
  for (;;) {
    const std::optional<TimePoint> when = due();
    if (when && *when <= loop_.now()) break;
    if (last_) {
      TransferEvent last = std::move(*last_);
      co_return last;
    }
    if (when) {
      (void)co_await changed_.wait_until(*when);
    } else {
      (void)co_await changed_.wait();
    }
  }
  taken_ = told_.front();
  taken_at_ = loop_.now();
  told_.pop_front();
  TransferEvent event{*taken_};
  co_return event;
}

void PullWaiter::cancel() {
  if (last_) return;
  told_.clear();
  leave();
  last_.emplace(Error{ErrorCode::kCancelled, "nobody waits for it any more"});
  changed_.notify_all();
}

}  // namespace hearth::front

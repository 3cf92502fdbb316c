// SPDX-License-Identifier: Apache-2.0
#include "front/events.h"

namespace hearth::front {

EventBus::Subscription::Subscription(EventBus& bus) : bus_{bus}, arrived_{bus.loop_} {
  bus_.subscriptions_.insert(this);
}

EventBus::Subscription::~Subscription() { bus_.subscriptions_.erase(this); }

Task<std::shared_ptr<const LiveEvent>> EventBus::Subscription::next(TimePoint deadline) {
  bool in_time = true;
  while (in_time && pending_.empty() && lost_ == 0 && !closed_) {
    in_time = co_await arrived_.wait_until(deadline);
  }
  if (lost_ > 0) {
    LiveEvent lost{0, "lost", "{\"events\":" + std::to_string(std::exchange(lost_, 0)) + "}"};
    co_return std::make_shared<const LiveEvent>(std::move(lost));
  }
  if (pending_.empty()) co_return nullptr;
  std::shared_ptr<const LiveEvent> event = std::move(pending_.front());
  pending_.pop_front();
  co_return event;
}

void EventBus::Subscription::close() {
  closed_ = true;
  arrived_.notify_all();
}

void EventBus::publish(std::string type, std::string data) {
  if (subscriptions_.empty()) return;
  const auto event =
      std::make_shared<const LiveEvent>(LiveEvent{next_id_++, std::move(type), std::move(data)});
  for (Subscription* subscription : subscriptions_) {
    if (subscription->pending_.size() >= kMaxPending) {
      subscription->pending_.pop_front();
      ++subscription->lost_;
    }
    subscription->pending_.push_back(event);
    subscription->arrived_.notify_all();
  }
}

void EventBus::close_all() {
  for (Subscription* subscription : subscriptions_) subscription->close();
}

}  // namespace hearth::front

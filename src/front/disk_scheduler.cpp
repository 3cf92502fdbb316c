// SPDX-License-Identifier: Apache-2.0
#include "front/disk_scheduler.h"

#include <algorithm>
#include <utility>

namespace hearth::front {

DiskScheduler::Tickets::~Tickets() {
  for (const std::string& device : devices_) scheduler_.leave(device);
}

// In the order of their names, as everybody does: so nobody waits for one who waits for him.
Task<std::unique_ptr<DiskScheduler::Tickets>> DiskScheduler::enter(std::set<std::string> devices,
                                                                   Claim claim) {
  auto tickets = std::make_unique<Tickets>(*this);
  for (const std::string& device : devices) {
    std::string name = device;
    Claim same = claim;
    const bool entered = co_await enter_one(std::move(name), std::move(same));
    if (!entered) co_return nullptr;
    tickets->devices_.push_back(device);
  }
  co_return tickets;
}

void DiskScheduler::stand_in_line(Line& line, Waiter waiter) {
  auto before = line.waiters.end();
  if (waiter.urgency == Urgency::kRequest) {
    before = std::ranges::find(line.waiters, Urgency::kWarmUp, &Waiter::urgency);
    const bool may_ask =
        line.held && line.holder.urgency == Urgency::kWarmUp && line.holder.give_way;
    if (may_ask) line.holder.give_way->store(true);
  }
  line.waiters.insert(before, waiter);
}

Task<bool> DiskScheduler::enter_one(std::string device, Claim claim) {
  Line& line = lines_[device];  // stays while somebody holds it or waits
  const std::uint64_t number = next_++;
  stand_in_line(line, Waiter{number, claim.urgency});
  while (!claim.cancelled() && (line.held || line.waiters.front().number != number)) {
    co_await changed_.wait();
  }
  line.waiters.remove_if([number](const Waiter& waiter) { return waiter.number == number; });
  if (claim.cancelled()) {
    changed_.notify_all();  // the one behind may be first now
    if (!line.held && line.waiters.empty()) lines_.erase(device);
    co_return false;
  }
  line.held = true;
  line.holder = std::move(claim);
  co_return true;
}

void DiskScheduler::leave(const std::string& device) {
  const auto line = lines_.find(device);
  if (line == lines_.end()) return;
  line->second.held = false;
  line->second.holder = {};
  if (line->second.waiters.empty()) lines_.erase(line);
  changed_.notify_all();
}

bool DiskScheduler::busy(const std::string& device) const {
  const auto line = lines_.find(device);
  return line != lines_.end() && line->second.held;
}

int DiskScheduler::waiting(const std::string& device) const {
  const auto line = lines_.find(device);
  return line == lines_.end() ? 0 : static_cast<int>(line->second.waiters.size());
}

}  // namespace hearth::front

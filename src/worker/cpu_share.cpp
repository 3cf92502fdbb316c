// SPDX-License-Identifier: Apache-2.0
#include "worker/cpu_share.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "worker/eval_priority.h"
#include "worker/idle_priority.h"

namespace hearth::worker {
namespace {

// Reading costs about a tenth of a millisecond.
constexpr std::chrono::milliseconds kBetweenReadings{45};

// A step after so long begins a request; what was seen before it may be over.
constexpr std::chrono::milliseconds kPause{200};
constexpr int kLooks = 3;
constexpr std::chrono::microseconds kBetweenLooks{100};

// CPUs that others want, beyond which evaluation does not go behind them, and below which it does
// again.
constexpr double kCrowd = 0.7;
constexpr double kRoomAgain = 0.3;

constexpr int kIdleNice = 19;  // what an idle thread weighs is less than that still

}  // namespace

int most_threads(const wire::LoadOptions& options) {
  // More threads than CPUs would wait for each other at every operation.
  const auto cpus = static_cast<int>(std::thread::hardware_concurrency());
  if (options.threads > 0) return std::min(options.threads, std::max(1, cpus));
  return engine::physical_cores();
}

void CpuShare::configure(const wire::LoadOptions& options) {
  const std::lock_guard lock{mutex_};
  options_ = options;
  running_ = most_threads(options);
  if (!options.exact && running_ > 1) {
    policy_.emplace(ThreadPolicy::Machine{engine::physical_cores(), running_, 0});
    read();
  }
  gauges_.threads.store(running_, std::memory_order_relaxed);
}

void CpuShare::give_way(const wire::GiveWayMessage& message) {
  const std::lock_guard lock{mutex_};
  log::debug(
      "give_way",
      {{"threads", message.threads}, {"percent", message.percent}, {"behind", message.behind}});
  most_given_ = message.threads;
  behind_ = message.behind;
  cycle_.set_percent(message.percent);
}

void CpuShare::worked(TimePoint begin, TimePoint end) {
  const std::lock_guard lock{mutex_};
  cycle_.worked(begin, end);
}

TimePoint CpuShare::rest_until() {
  const std::lock_guard lock{mutex_};
  return cycle_.rest_until();
}

bool CpuShare::rests() {
  const std::lock_guard lock{mutex_};
  return cycle_.rests();
}

int CpuShare::count_of(StepKind kind) const {
  const int count = policy_->count(kind);
  return most_given_ > 0 ? std::min(count, most_given_) : count;
}

void CpuShare::look() {
  const std::lock_guard lock{mutex_};
  if (!policy_ || Clock::real().now() - read_at_ < kBetweenReadings) return;
  read();
  if (gauges_.active.load(std::memory_order_relaxed) > 0) return;  // the next step decides
  policy_->decide(running_);
  running_ = count_of(StepKind::kTokens);
  gauges_.threads.store(running_, std::memory_order_relaxed);
}

void CpuShare::before_step(engine::CpuThreads& threads, StepKind kind) {
  const std::lock_guard lock{mutex_};
  if (!nice_ && options_.nice != 0) apply_nice(threads);
  if (policy_) choose(threads, kind);
  apply_way(threads);
}

void CpuShare::choose(engine::CpuThreads& threads, StepKind kind) {
  const TimePoint now = Clock::real().now();
  if (now - std::exchange(stepped_at_, now) > kPause && is_alone()) {
    policy_->begin_alone();
    read();
  } else if (now - read_at_ >= kBetweenReadings) {
    meter_.watch(threads.ids());
    read();
    policy_->decide(threads.count());
  }
  const int count = count_of(kind);
  if (count != threads.count()) {
    log::debug("threads",
               {{"from", threads.count()}, {"to", count}, {"demand", policy_->demand()}});
    threads.use(count);
    meter_.watch(threads.ids());
  }
  running_ = count;
  gauges_.threads.store(count, std::memory_order_relaxed);
}

// A neighbour that computes is runnable whenever one looks; whoever only handed this request over
// is not for long.
bool CpuShare::is_alone() const {
  for (int look = 0; look < kLooks; ++look) {
    if (meter_.runnable() == 1) return true;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return false;
}

void CpuShare::read() {
  policy_->add(meter_.read());
  read_at_ = Clock::real().now();
}

void CpuShare::apply_nice(const engine::CpuThreads& threads) {
  nice_ = set_priority(threads.ids(), options_.nice);
  if (policy_) policy_->set_nice(*nice_);
}

// Whoever is woken goes before an idle thread at once. Among threads of one class a small service
// waits until the one that computes has had its slice, some milliseconds, whatever their
// priorities. But beside others that compute, an idle thread gets nothing at all.
CpuShare::Way CpuShare::way() {
  const bool gives_up = most_given_ > 0 || cycle_.rests();
  if (!gives_up && (!behind_ || !policy_)) return Way::kBeside;
  if (!may_come_back()) return Way::kBeside;
  if (gives_up) return Way::kIdle;
  crowded_ = policy_->demand() > (crowded_ ? kRoomAgain : kCrowd);
  return crowded_ ? Way::kBeside : Way::kBehind;
}

// Threads of another count are other ones: each is asked about when it is used.
void CpuShare::apply_way(const engine::CpuThreads& threads) {
  const Way wanted = way();
  if (wanted == Way::kBeside && ways_.empty()) return;
  std::vector<pid_t> changed;
  for (const pid_t id : threads.ids()) {
    const auto found = ways_.find(id);
    if ((found == ways_.end() ? Way::kBeside : found->second) != wanted) changed.push_back(id);
  }
  if (changed.empty()) return;
  (void)come_back(changed);
  if (nice_) (void)set_priority(changed, *nice_);
  if (wanted == Way::kBehind) go_behind(changed);
  if (wanted == Way::kIdle) make_idle(changed);
  for (const pid_t id : changed) {
    if (wanted == Way::kBeside) {
      ways_.erase(id);
    } else {
      ways_[id] = wanted;
    }
  }
  if (policy_) policy_->set_nice(wanted == Way::kIdle ? kIdleNice : nice_.value_or(0));
}

}  // namespace hearth::worker

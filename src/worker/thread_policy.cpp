// SPDX-License-Identifier: Apache-2.0
#include "worker/thread_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearth::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFast{90};   // enough to see that our own threads wait
constexpr milliseconds kSlow{450};  // enough for /proc/stat, which counts in ticks
constexpr milliseconds kMostPatience{1500};
constexpr milliseconds kVain{1500};  // a step up that lasts less was in vain
constexpr seconds kRemember{3};

constexpr double kLowPriority = 0.25;
// Ready threads, in CPUs, below which their waiting says nothing.
constexpr double kReady = 0.25;
constexpr double kUndisturbed = 0.97;
constexpr double kWorthFewer = 1.03;
// Of what one more thread could bring at best, the part that it must promise.
constexpr double kWorthMore = 0.4;
// For the first look and for prompts: fewer threads unless more are clearly faster.
constexpr double kClearly = 1.15;

double cpus(Duration time, Duration length) {
  return static_cast<double>(time.count()) / static_cast<double>(length.count());
}

// The kernel's weights: each step of nice is a quarter.
double weight_of(int nice) { return std::pow(1.25, -nice); }

// All counts of a small machine, fewer of a large one: each that was used keeps a pool.
std::vector<int> choices_up_to(int most) {
  std::vector<int> choices;
  for (int count = 1; count < most;) {
    choices.push_back(count);
    count += count < 8 ? 1 : count < 16 ? 2 : count < 32 ? 4 : 8;
  }
  choices.push_back(most);
  return choices;
}

}  // namespace

ThreadPolicy::ThreadPolicy(Machine machine)
    : machine_{machine},
      weight_{weight_of(machine.nice)},
      choices_{choices_up_to(std::max(1, machine.most))},
      patience_{kSlow} {
  counts_.fill(choices_.back());
}

void ThreadPolicy::begin_alone() {
  seen_.clear();
  counts_ = {machine_.most, machine_.most};
  decided_ = false;
  demand_ = 0;
}

void ThreadPolicy::set_nice(int nice) {
  if (nice == machine_.nice) return;
  machine_.nice = nice;
  weight_ = weight_of(nice);
  decided_ = false;
}

void ThreadPolicy::add(const CpuReading& reading) {
  if (!seen_.empty() && reading.at <= seen_.back().at) return;
  seen_.push_back(reading);
  while (seen_.size() > 2 && seen_[1].at <= reading.at - kRemember) seen_.pop_front();
}

// The latest at or before `moment`; null: there is none.
const CpuReading* ThreadPolicy::reading_before(TimePoint moment) const {
  for (auto reading = seen_.rbegin(); reading != seen_.rend(); ++reading) {
    if (reading->at <= moment) return &*reading;
  }
  return nullptr;
}

ThreadPolicy::Window ThreadPolicy::window(const CpuReading& from, const CpuReading& to) const {
  Window seen;
  seen.length = to.at - from.at;
  const double own = cpus(to.own - from.own, seen.length);
  const double all = std::max(0.0, cpus(to.busy - from.busy, seen.length) - own);
  const double low = cpus(to.niced - from.niced, seen.length) - (machine_.nice > 0 ? own : 0.0);
  seen.others = all - (1 - kLowPriority) * std::clamp(low, 0.0, all);
  if (from.threads && to.threads) {
    seen.ran = cpus(to.threads->ran - from.threads->ran, seen.length);
    const double waited = cpus(to.threads->waited - from.threads->waited, seen.length);
    seen.competing = seen.ran + waited >= kReady;
    if (seen.competing) seen.share = seen.ran / (seen.ran + waited);
  }
  seen.room = std::numeric_limits<double>::infinity();
  if (from.quota && to.quota) {
    // Without a count of the group's use it is all ours.
    const double used = cpus(to.quota->used - from.quota->used, seen.length);
    seen.room = to.quota->cpus - std::max(0.0, used - own);
  }
  return seen;
}

// What neighbours want, from the share they leave us: they and we have CPUs by weight.
double ThreadPolicy::shared_demand(const Window& seen, int running) const {
  if (!seen.competing || seen.share > kUndisturbed) return 0.0;
  const double share = std::max(seen.share, 0.01);
  return std::max(0.0, weight_ * (machine_.cores / share - running));
}

// Of one undisturbed thread. A thread has its fair share of a CPU; those that wait for each other
// advance only while all have theirs. In a prompt's large pieces of work the others take over some
// of what a waiting one leaves. Roughly what was measured with a model of 1B on two CPUs, beside
// one and two neighbours, at nice 0, -5 and -10.
double ThreadPolicy::speed(int threads, StepKind kind, double demand, double room) const {
  const double fair = machine_.cores * weight_ / (threads * weight_ + demand);
  const double together = kind == StepKind::kTokens ? threads : 1 + 0.8 * (threads - 1);
  const double speed = threads * std::pow(std::min(1.0, fair), together);
  // Beyond a quota all threads are stopped until the next period.
  return threads <= room || threads == 1 ? speed : std::min(speed, 0.95 * room);
}

int ThreadPolicy::best(StepKind kind, double demand, double room) const {
  int best = choices_.front();
  for (const int count : choices_) {
    const double ideal = static_cast<double>(count) / best;
    const double needed = std::min(kClearly, 1.0 + kWorthMore * (ideal - 1.0));
    if (speed(count, kind, demand, room) > needed * speed(best, kind, demand, room)) best = count;
  }
  return best;
}

void ThreadPolicy::decide(int running) {
  if (seen_.empty()) return;
  const CpuReading& last = seen_.back();
  // What came before a change says nothing about the threads that ran since.
  if (const CpuReading* from = reading_before(last.at - kFast);
      from != nullptr && from->at >= changed_at_) {
    const Window seen = window(*from, last);
    const double demand = shared_demand(seen, running);
    if (demand > 0) {
      demand_ = demand;
      go_down(StepKind::kTokens, seen, demand);
      go_down(StepKind::kPrompt, seen, demand);
    }
  }
  const CpuReading* from = reading_before(last.at - kSlow);
  if (from == nullptr && !decided_) from = reading_before(last.at - kFast);
  if (from == nullptr) return;
  const Window seen = window(*from, last);
  const double demand = std::max(seen.others, shared_demand(seen, running));
  demand_ = demand;
  if (!decided_) {
    for (const auto kind : {StepKind::kTokens, StepKind::kPrompt}) {
      counts_[index(kind)] = best(kind, demand, seen.room);
    }
    changed_at_ = last.at;
    decided_ = true;
    return;
  }
  if (from->at < changed_at_) return;
  const bool patient = last.at - changed_at_ >= patience_;
  for (const auto kind : {StepKind::kTokens, StepKind::kPrompt}) {
    go_down(kind, seen, demand);
    if (patient) go_up(kind, seen, demand);
  }
}

void ThreadPolicy::go_down(StepKind kind, const Window& seen, double demand) {
  const int now = count(kind);
  const int wanted = best(kind, demand, seen.room);
  if (wanted >= now) return;
  const double gain = speed(wanted, kind, demand, seen.room) / speed(now, kind, demand, seen.room);
  if (gain < kWorthFewer) return;
  // Never below what we were given anyway: two workers that make room for each other meet in the
  // middle in place of changing places.
  const auto step = std::ranges::lower_bound(choices_, now) - 1;
  const auto given =
      std::ranges::upper_bound(choices_, static_cast<int>(std::min(seen.ran, seen.room)));
  const int floor = given == choices_.begin() ? choices_.front() : *(given - 1);
  set(kind, std::max(wanted, std::min(*step, floor)), seen_.back().at);
}

void ThreadPolicy::go_up(StepKind kind, const Window& seen, double demand) {
  const int now = count(kind);
  const int wanted = best(kind, demand, seen.room);
  if (wanted <= now) return;
  const double gain = speed(wanted, kind, demand, seen.room) / speed(now, kind, demand, seen.room);
  const double ideal = static_cast<double>(wanted) / now;
  if (gain >= 1.0 + kWorthMore * (ideal - 1.0)) set(kind, wanted, seen_.back().at);
}

void ThreadPolicy::set(StepKind kind, int count, TimePoint now) {
  int& held = counts_[index(kind)];
  if (count == held) return;
  if (count > held) {
    raised_at_ = now;
  } else {
    const bool in_vain = raised_at_ != TimePoint{} && now - raised_at_ < kVain;
    patience_ = in_vain ? std::min<Duration>(patience_ * 2, kMostPatience) : Duration{kSlow};
  }
  held = count;
  changed_at_ = now;
}

}  // namespace hearth::worker

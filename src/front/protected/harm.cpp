// SPDX-License-Identifier: Apache-2.0
#include "front/protected/harm.h"

#include <algorithm>
#include <initializer_list>

namespace hearth::front {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A quarter of an hour of answers asked for every two seconds.
constexpr std::size_t kMostUsual = 512;
constexpr std::size_t kMostCurrent = 256;
constexpr seconds kCurrent{30};
constexpr hours kForever{24 * 365};

// Below that, a 99th percentile is an accident.
constexpr std::size_t kEnoughUsual = 20;
// Of thirty answers one is above the usual 99th percentile every fourth time, three are hardly
// ever.
constexpr std::size_t kEnoughSlow = 3;
constexpr std::size_t kEnoughWell = 6;
constexpr double kQuantile = 0.99;

constexpr milliseconds kOver{1900};  // two seconds, by timers that are a little early
constexpr seconds kTelling{2};       // between latencies

}  // namespace

HarmJudge::HarmJudge(Limits limits)
    : limits_{limits}, idle_{kMostUsual, kForever}, busy_{kMostCurrent, kCurrent} {}

void HarmJudge::add_latency(TimePoint at, Duration latency, Hearth hearth) {
  if (hearth == Hearth::kIdle) return idle_.add(at, latency);
  busy_.add(at, latency);
  busy_at_ = at;
}

void HarmJudge::add_waits(const Waits& waits, Duration over, Hearth hearth) {
  add_wait(memory_, waits.memory, over);
  // Whatever it waits for while Hearth does nothing is not Hearth's doing.
  const bool ours = hearth == Hearth::kBusy;
  add_wait(cpu_, waits.cpu, ours ? over : Duration{});
  add_wait(io_, waits.io, ours ? over : Duration{});
}

void HarmJudge::add_wait(Wait& wait, std::optional<double> share, Duration over) {
  wait.last = share;
  const double value = share.value_or(0.0);
  const bool counts = over > Duration{};
  if (value > limits_.waits && counts) {
    wait.over += over;
    wait.harmed = wait.harmed || wait.over >= kOver;
    return;
  }
  wait.over = {};
  if (!counts || value <= limits_.waits / 2) wait.harmed = false;
}

void HarmJudge::begin_anew() {
  busy_.clear();
  for (Wait* wait : {&cpu_, &memory_, &io_}) wait->over = {};
}

void HarmJudge::leave() {
  begin_anew();
  slow_ = false;
  busy_at_.reset();
  current_.reset();
  for (Wait* wait : {&cpu_, &memory_, &io_}) *wait = {};
}

std::optional<Duration> HarmJudge::usual() const {
  if (idle_.size() < kEnoughUsual) return std::nullopt;
  return idle_.quantile(kQuantile);
}

std::optional<Duration> HarmJudge::current() const { return current_; }

std::optional<double> HarmJudge::worst_wait() const {
  return std::max({cpu_.last, memory_.last, io_.last});
}

bool HarmJudge::knows() const { return usual().has_value() || worst_wait().has_value(); }

std::optional<Duration> HarmJudge::limit() const {
  const auto known = usual();
  if (!known) return std::nullopt;
  const double scaled = static_cast<double>(known->count()) * limits_.p99;
  return std::max(Duration{static_cast<Duration::rep>(scaled)}, *known + limits_.noise);
}

bool HarmJudge::suspects() const {
  const auto most = limit();
  return most && busy_.count_above(*most) > 0;
}

bool HarmJudge::is_slow() const {
  const auto most = limit();
  if (!most) return false;
  const std::size_t slow = busy_.count_above(*most);
  return slow >= kEnoughSlow && slow * 100 > busy_.size();
}

bool HarmJudge::is_well() const {
  const auto most = limit();
  if (!most) return true;
  const Duration middle = *usual() + (*most - *usual()) / 2;
  return busy_.size() >= kEnoughWell && busy_.count_above(middle) <= 1 + busy_.size() / 100;
}

Harm HarmJudge::judge(TimePoint now) {
  busy_.drop_before(now - kCurrent);
  if (busy_.size() > 0) current_ = busy_.quantile(kQuantile);
  Harm harm;
  harm.telling = busy_at_ && now - *busy_at_ <= kTelling;
  const bool over = busy_.size() == 0 && !harm.telling;
  const bool proved = is_slow();
  if (proved) {
    slow_ = true;
    slow_as_ = *current_;
  } else if (over || is_well()) {
    slow_ = false;
  }
  harm.latency = slow_;
  harm.cpu = cpu_.harmed;
  harm.memory = memory_.harmed;
  harm.io = io_.harmed;
  harm.proved = proved || std::max({cpu_.over, memory_.over, io_.over}) >= kOver;
  return harm;
}

}  // namespace hearth::front

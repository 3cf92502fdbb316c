// SPDX-License-Identifier: Apache-2.0
#include "front/protected/give_way.h"

#include <algorithm>
#include <utility>

namespace hearth::front {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kMostCompute = 3;

// A worker's next step, and what it does to the service, take that long to show; what is moved out
// of memory, move by move, takes longer.
constexpr seconds kToShow{2};
constexpr seconds kMemoryToShow{5};
constexpr seconds kPatience{10};
constexpr minutes kMostPatience{5};
// While Hearth does nothing it harms nobody, and learns nothing of what its work would do.
constexpr int kIdleCounts = 4;
constexpr seconds kLongLook{2};  // more between two looks is a machine that slept

}  // namespace

GiveWay both(const GiveWay& a, const GiveWay& b) {
  GiveWay out;
  const auto [less, more] = std::minmax(a.compute.threads, b.compute.threads);
  out.compute.threads = less > 0 ? less : more;
  out.compute.percent = std::min(a.compute.percent, b.compute.percent);
  out.prewarm = a.prewarm && b.prewarm;
  out.memory = a.memory || b.memory;
  out.pins = a.pins || b.pins;
  return out;
}

std::vector<std::string> names_of(const GiveWay& given) {
  std::vector<std::string> names;
  if (!given.prewarm) names.emplace_back("prewarming");
  if (given.compute.threads > 0) names.emplace_back("threads");
  if (given.compute.percent < 100) names.emplace_back("percent");
  if (given.memory) names.emplace_back("memory");
  if (given.pins) names.emplace_back("pins");
  return names;
}

GiveWayLadder::GiveWayLadder(Limits limits) : limits_{limits}, patience_{kPatience} {}

GiveWayLadder::Move GiveWayLadder::look(TimePoint now, const Harm& harm) {
  const Duration passed =
      looked_at_ == TimePoint{} ? Duration{} : std::min<Duration>(now - looked_at_, kLongLook);
  looked_at_ = now;
  if (harm.any()) {
    // The last step up was in vain.
    if (std::exchange(went_up_, false)) {
      patience_ = std::min<Duration>(patience_ * 2, kMostPatience);
    }
    well_ = {};
    const bool shown = moved_at_ == TimePoint{} || now - moved_at_ >= to_show_;
    if (!harm.proved || !shown || !may_go_down(harm)) return Move::kNone;
    go_down(harm);
    moved_at_ = now;
    return Move::kMoreWay;
  }
  well_ += harm.telling ? passed : passed / kIdleCounts;
  if (well_ < patience_) return Move::kNone;
  if (std::exchange(went_up_, false)) patience_ = std::max<Duration>(patience_ / 2, kPatience);
  if (!gives()) return Move::kNone;
  go_up();
  well_ = {};
  went_up_ = true;
  moved_at_ = now;
  return Move::kLessWay;
}

void GiveWayLadder::leave() {
  compute_ = memory_ = 0;
  well_ = {};
  went_up_ = false;
  patience_ = kPatience;
}

bool GiveWayLadder::may_go_down(const Harm& harm) const {
  const int most_memory = limits_.pins == Pins::kRelease ? 2 : 1;
  const bool memory_helps = harm.memory || harm.latency || harm.io;
  const bool others = harm.cpu || harm.latency || harm.io;
  return (others && compute_ < kMostCompute) || (memory_helps && memory_ < most_memory);
}

void GiveWayLadder::go_down(const Harm& harm) {
  const int most_memory = limits_.pins == Pins::kRelease ? 2 : 1;
  const bool others = harm.cpu || harm.latency || harm.io;
  const bool memory_first = harm.memory && (memory_ == 0 || !others);
  const bool memory_next = memory_first && memory_ < most_memory;
  const bool compute = !memory_next && others && compute_ < kMostCompute;
  ++(compute ? compute_ : memory_);
  to_show_ = compute ? kToShow : kMemoryToShow;
}

void GiveWayLadder::go_up() {
  int& step = memory_ > 0 ? memory_ : compute_;
  --step;
}

GiveWay GiveWayLadder::given() const {
  GiveWay out;
  if (compute_ >= 1) out.compute.threads = std::max(1, (limits_.threads + 1) / 2);
  if (compute_ >= 2) out.compute.percent = 50;
  if (compute_ >= 3) {
    out.compute.threads = std::max(1, limits_.threads / 4);
    out.compute.percent = 25;
  }
  out.prewarm = !gives();
  out.memory = memory_ >= 1;
  out.pins = memory_ >= 2;
  return out;
}

}  // namespace hearth::front

// SPDX-License-Identifier: Apache-2.0
#include "front/levels/pressure_sense.h"

#include <algorithm>

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

constexpr Bytes kSmall{1};
// More than this share of the memory is plenty.
constexpr std::uint64_t kPlenty = 4;

}  // namespace

Bytes PressureSense::wanted(const MemorySign& sign, TimePoint now, const PressureTerms& terms) {
  const bool scarce = sign.available.count() < sign.total.count() / kPlenty;
  const bool stalls = scarce && sign.some_avg10 > 0 && sign.some_avg10 >= terms.psi_limit;
  if (!stalls) stalled_since_.reset();
  if (stalls && !stalled_since_) stalled_since_ = now;
  Bytes wanted = sign.over.value_or(Bytes{});
  if (sign.total > Bytes{} && sign.available < sign.reserve) {
    wanted = std::max(wanted, sign.reserve - sign.available);
  }
  if (stalled_since_ && now - *stalled_since_ >= terms.psi_for) {
    wanted = std::max(wanted, kSmall);
    stalled_since_ = now;  // what is given back takes a while to show
  }
  return wanted;
}

// A neighbour that fills memory at some 300 MB a second needs a second or two for the reserve.
Duration PressureSense::interval(const MemorySign& sign) {
  const bool near = sign.available.count() < 4 * sign.reserve.count();
  return near ? 200ms : 1s;
}

}  // namespace hearth::front

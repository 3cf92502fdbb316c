// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "timeline/facts.h"
#include "timeline/snapshot.h"
#include "timeline/timeline.h"
#include "timeline/verdict_code.h"

namespace hearth {

// Why a reply was slow, what that cost, and the one thing to do about it.
struct Verdict {
  VerdictCode code = VerdictCode::kQueueBusy;
  std::string_view layer{};  // empty for what is no cache layer
  Duration cost{};           // see explain()
  std::string remedy{};      // fixed text with its command
  std::string text{};        // one sentence
};

// Pure. A reply whose class is not warm always has a verdict, about its coldest layer; or about the
// compiled layer, where a load had to compute anew what had been kept for another engine, driver,
// hardware or file. A warm one has one only for what no cache could have held, the first that
// applies of
//   memory.swapped   more than 1 MiB came back from swap;
//   queue.*          queued for more than max(50 ms, 20 % of the total);
//   prefix.diverged  the prompt changes in each request at one place near its beginning;
//   cpu.contended    CPU pressure of 10 % or more, and prefill took 1.5 times the usual and 50 ms
//   longer; power.ramp       after 10 s of idling prefill took 2 to 50 ms longer than usual,
//   nothing was read, no
//                    page fault went to the device, and all pages were resident. A longer delay has
//                    another cause.
// The last two need Facts::usual_prefill.
//
// The cost is the time in the layer's own stages, side by side ones counted once. Where they ran
// beside prefill it is all of that time but for what prefill takes when warm
// (Facts::warm_prefill), so what prefill hid costs nothing. Of a cold prefix
// it is the share of prefill that went into tokens evaluated before. Where pages came in through
// page faults, without a read stage, it is the load's time, or what prefill took beyond the usual.
std::optional<Verdict> explain(const Facts& facts, const Timeline& timeline, const Before& before);

}  // namespace hearth

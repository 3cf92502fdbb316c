// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "traces/post.h"

namespace hearth::traces {

// What an answer of a collector means, by the OTLP specification.
struct Judgement {
  enum class Fate {
    kTaken,
    kLater,    // the same may be sent again
    kRefused,  // it may not
  };
  Fate fate = Fate::kTaken;
  std::optional<Duration> wait{};    // kLater: as long as the collector asks, bounded
  std::uint64_t rejected_spans = 0;  // of kTaken
  std::string reason{};              // for people, one line; empty where all is well
};

Judgement judge(const Result<PostAnswer>& answer);

// How long to wait after so many failures in a row: from about a second on, doubled each time, up
// to about a minute, and never quite the same.
Duration backoff(int failures, Random& random);

}  // namespace hearth::traces

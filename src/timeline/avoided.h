// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "timeline/facts.h"
#include "timeline/snapshot.h"

namespace hearth {

// What this machine was last measured to need. Unset: not measured yet.
struct Rates {
  std::optional<double> read_bytes_per_s{};  // of the device that holds the model
  std::optional<Duration> load{};            // the model's last load with its pages in memory
  std::optional<Duration> compile{};
  std::optional<double> prefill_tokens_per_s{};
  std::optional<Bytes> prefix_bytes_per_token{};
  // While weights are read the prompt is evaluated layer by layer: of the shorter of the two only
  // one of so many parts shows. 1: one after the other.
  int layers = 1;
};

// Each part is unset where it is not known.
struct Saving {
  std::optional<Bytes> bytes{};
  std::optional<Duration> time{};
  std::optional<std::int64_t> tokens{};  // prefix only
};

// A layer that saved nothing is unset.
struct Avoided {
  std::optional<Saving>
      artifact;  // its time stays unset: nobody knows how fast the network would be
  std::optional<Saving> pages{};
  std::optional<Saving> weights{};
  std::optional<Saving> compiled{};
  std::optional<Saving> prefix{};
};

// What the request would have paid for each layer, had that one alone been cold, beyond what it
// paid to use what was kept. Stages overlap, so the savings do not add up to one total. Pure.
Avoided avoided_by(const Facts& facts, const Before& before, const Rates& rates);

}  // namespace hearth

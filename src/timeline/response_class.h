// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "timeline/facts.h"

namespace hearth {

// By the coldest layer that a request had to warm, coldest first. Waiting for a turn is no class.
enum class ResponseClass {
  kArtifactCold,  // something was downloaded
  // More was read from the device than max(1 MiB, 1 % of the load set); stored prompt state does
  // not count.
  kStorageCold,
  kLoadCold,  // a worker was started or weights were loaded, out of pages in memory
  kCompileCold,
  kPrefixCold,  // at least 64 tokens were evaluated again that had been evaluated before
  kWarm,        // tokens that nobody ever evaluated are plain work, not a cold cache
};

// Pure.
ResponseClass classify(const Facts& facts);

// "artifact-cold", ..., "warm"
std::string_view name_of(ResponseClass response_class);
std::optional<ResponseClass> response_class_named(std::string_view name);

// "artifact", "pages", "weights", "compiled", "prefix"; empty for kWarm.
std::string_view cold_layer_of(ResponseClass response_class);

}  // namespace hearth

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/random.h"
#include "timeline/report.h"

namespace hearth::traces {

// Who sends the spans.
struct Resource {
  std::string service_name{};
  std::string version{};
  std::string instance{};  // another one after each start
};

// The body of a POST to an OTLP/HTTP collector, in the JSON encoding: of each request one span, and
// one below it for each of its stages, whose ids come from `ids`. Every report must have a trace.
// Texts of prompts and replies are not in it, nor names of directories.
std::string otlp_json(const Resource& resource, std::span<const RequestReport> reports,
                      Random& ids);

}  // namespace hearth::traces

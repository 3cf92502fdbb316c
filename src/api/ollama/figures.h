// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "front/reply.h"
#include "timeline/json_writer.h"
#include "timeline/report.h"

namespace hearth::api::ollama {

// RFC 3339 in UTC with nine decimals: "2026-08-21T18:48:22.123456000Z".
std::string rfc3339(std::int64_t wall_us);

// total_duration and load_duration, in nanoseconds. Loading is all that stands between a request
// and a model that is ready: the worker's start, reading, weights, compilation, memory for the
// context. Always written: 0 says that nothing had to be loaded.
void add_durations(JsonWriter& out, const RequestReport& report);

// These and the counts, durations and `hearth` object of a reply's last line.
void add_figures(JsonWriter& out, const front::Finished& end);

}  // namespace hearth::api::ollama

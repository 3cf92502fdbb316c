// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"

namespace hearth::household {

struct TraceModel {
  std::string name;
  Bytes size{};
};

struct TraceRequest {
  Duration at{};  // since the trace began, which is a Monday, 0:00
  std::size_t model = 0;
  Duration service{};  // that it keeps its model busy, once served
};

// Who asked for what, and when.
struct Trace {
  std::vector<TraceModel> models;
  std::vector<TraceRequest> requests;  // by time
};

// Lines of "seconds,model,size_gb,service_s", with that heading; a GB has 10^9 bytes. Errors:
// kInvalid, with the line: a field is missing or no number, negative or beyond ten years; a model's
// size is 0, beyond a petabyte or another than before; time goes back; there is no request.
Result<Trace> parse_trace(std::string_view csv);

// The same form.
std::string to_csv(const Trace& trace);

}  // namespace hearth::household

// SPDX-License-Identifier: Apache-2.0
//
// FrontService's traces: which requests are told to a collector, and where it is.
#include <utility>

#include "base/log.h"
#include "base/version.h"
#include "front/config/traces.h"
#include "front/front_service.h"

namespace hearth::front {
namespace {

// Ids of traces, so that they do not follow from ids of requests.
constexpr std::uint64_t kTraceSeed = 0x7261'6365'7274'0001;

}  // namespace

std::uint64_t FrontService::trace_seed() const { return world_.seed ^ kTraceSeed; }

traces::Exporter::World FrontService::traces_world() {
  return {world_.loop, trace_pool_, world_.post_traces, ~trace_seed(), std::string{version()}};
}

void FrontService::set_traces() {
  traces::Settings settings;
  settings.endpoint = full_traces_endpoint(config_.traces_endpoint);
  for (const std::string& header : config_.traces_headers) {
    if (auto parsed = parse_traces_header(header)) settings.headers.push_back(std::move(*parsed));
  }
  settings.service_name = config_.traces_service_name;
  settings.sample_percent = config_.traces_sample_percent;
  const std::string endpoint = settings.endpoint;
  const bool was_on = traces_.on();
  traces_.set(std::move(settings));
  using Sending = traces::Tracer::Sending;
  tracer_.set(traces_.on() ? Sending::kOn : Sending::kOff, config_.traces_sample_percent);
  if (traces_.on() && !was_on) log::info("traces.on", {{"endpoint", endpoint}});
}

void FrontService::begin_trace(RequestContext& context) {
  if (context.by_itself) return;
  context.trace = tracer_.begin(context.trace_parent);
  if (!context.trace) return;
  const Duration ago = world_.loop.now() - context.first_byte;
  context.trace->first_byte_ns = world_.clock.wall_us() * 1000 - ago.count();
}

}  // namespace hearth::front

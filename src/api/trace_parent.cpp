// SPDX-License-Identifier: Apache-2.0
#include "api/trace_parent.h"

#include <string_view>
#include <vector>

#include "base/text.h"

namespace hearth::api {
namespace {

std::vector<std::string_view> values_of(const http::Headers& headers, std::string_view name) {
  std::vector<std::string_view> values;
  for (const http::Header& header : headers) {
    if (lower_case(header.name) == name) values.push_back(header.value);
  }
  return values;
}

}  // namespace

std::optional<TraceContext> trace_parent_of(const http::HttpRequest& request) {
  if (!request.header("traceparent")) return std::nullopt;
  const auto parents = values_of(request.headers, "traceparent");
  if (parents.size() != 1) return std::nullopt;
  std::optional<TraceContext> context = parse_traceparent(parents.front());
  if (context) context->state = tracestate_of(values_of(request.headers, "tracestate"));
  return context;
}

}  // namespace hearth::api

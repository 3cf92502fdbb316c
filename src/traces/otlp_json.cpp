// SPDX-License-Identifier: Apache-2.0
#include "traces/otlp_json.h"

#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/redact.h"
#include "timeline/response_class.h"
#include "timeline/verdict_code.h"
#include "traces/random_id.h"

namespace hearth::traces {
namespace json = boost::json;
namespace {

// Of opentelemetry.proto.trace.v1; JSON has enums as numbers.
constexpr int kInternal = 1;
constexpr int kServer = 2;
constexpr int kError = 2;
constexpr int kParentKnown = 0x100;   // of Span.flags: the next bit says something
constexpr int kParentRemote = 0x200;  // the parent is a span of another process

constexpr std::string_view kProvider = "hearth";
constexpr std::size_t kLongestText = 500;

// 64-bit numbers are strings in JSON.
std::string text_of(std::int64_t number) { return std::to_string(number); }

// A list of attributes.
class Attributes {
 public:
  Attributes& text(std::string_view key, std::string_view value) {
    return add(key, json::object{{"stringValue", value}});
  }
  Attributes& text_if_any(std::string_view key, std::string_view value) {
    return value.empty() ? *this : text(key, value);
  }
  Attributes& integer(std::string_view key, std::int64_t value) {
    return add(key, json::object{{"intValue", text_of(value)}});
  }
  Attributes& milliseconds(std::string_view key, Duration value) {
    return add(key, json::object{{"doubleValue", milliseconds_of(value)}});
  }
  Attributes& yes(std::string_view key) { return add(key, json::object{{"boolValue", true}}); }

  json::array take() { return std::move(list_); }

 private:
  Attributes& add(std::string_view key, json::object value) {
    list_.push_back(json::object{{"key", key}, {"value", std::move(value)}});
    return *this;
  }

  json::array list_;
};

// By the conventions for generative AI; empty for what they have no word for.
std::string_view operation_of(const RequestReport& report) {
  if (report.kind != RequestKind::kAnswer) return "";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOperations{{
      {"/v1/chat/completions", "chat"},
      {"/v1/messages", "chat"},
      {"/v1/responses", "chat"},
      {"/api/chat", "chat"},
      {"/v1/completions", "text_completion"},
      {"/api/generate", "text_completion"},
      {"/v1/embeddings", "embeddings"},
      {"/api/embed", "embeddings"},
      {"/api/embeddings", "embeddings"},
  }};
  for (const auto& [path, operation] : kOperations) {
    if (report.path == path) return operation;
  }
  return "";
}

std::string name_of_root(const RequestReport& report) {
  std::string name{operation_of(report)};
  if (report.kind == RequestKind::kLoad) name = "load";
  if (report.kind == RequestKind::kCount) name = "count_tokens";
  if (name.empty()) name = "request";
  return report.model.empty() ? name : name + " " + report.model;
}

std::string message_of(const RequestReport& report) {
  std::string text = repair_utf8(without_directories(report.message));
  if (text.size() > kLongestText) {
    text.resize(complete_utf8_prefix(std::string_view{text}.substr(0, kLongestText)));
  }
  return text;
}

std::int64_t count_of(Bytes bytes) { return static_cast<std::int64_t>(bytes.count()); }

void add_general(Attributes& attributes, const RequestReport& report) {
  const std::string_view operation = operation_of(report);
  attributes.text_if_any("gen_ai.operation.name", operation);
  if (!operation.empty()) attributes.text("gen_ai.provider.name", kProvider);
  attributes.text_if_any("gen_ai.request.model", report.model);
  if (operation.empty()) return;
  attributes.integer("gen_ai.usage.input_tokens", report.prompt_tokens)
      .integer("gen_ai.usage.output_tokens", report.generated_tokens)
      .integer("gen_ai.usage.cache_read.input_tokens", report.cached_tokens);
}

void add_own(Attributes& attributes, const RequestReport& report) {
  attributes.text("hearth.request_id", report.request_id)
      .text("hearth.api", report.api)
      .text("hearth.outcome", name_of(report.outcome));
  if (report.response_class) {
    attributes.text("hearth.response_class", name_of(*report.response_class))
        .text_if_any("hearth.cold_layer", cold_layer_of(*report.response_class));
  }
  if (report.verdict) {
    attributes.text("hearth.verdict.code", name_of(report.verdict->code))
        .milliseconds("hearth.verdict.cost_ms", report.verdict->cost)
        .text("hearth.verdict.remedy", report.verdict->remedy);
  }
  attributes.integer("hearth.cached_tokens", report.cached_tokens);
  if (report.time_to_first_token) {
    attributes.milliseconds("hearth.ttft_ms", *report.time_to_first_token);
  }
  attributes.milliseconds("hearth.queued_ms", report.timings.queued)
      .milliseconds("hearth.overlap_ms", report.timings.overlap)
      .milliseconds("hearth.other_ms", report.timings.other)
      .integer("hearth.bytes_read", count_of(report.bytes_read));
  if (report.timings.shared) attributes.yes("hearth.shared");
}

bool is_server_error(const RequestReport& report) {
  const bool clients_own = report.status >= 400 && report.status < 500;
  return report.outcome == Outcome::kError && !clients_own;
}

json::array root_attributes(const RequestReport& report) {
  Attributes attributes;
  add_general(attributes, report);
  attributes.text("http.request.method", "POST").text("url.scheme", "http");
  attributes.text("url.path", report.path);
  if (report.status > 0) attributes.integer("http.response.status_code", report.status);
  if (report.outcome == Outcome::kError) {
    attributes.text("error.type", report.status >= 400 ? std::to_string(report.status) : "_OTHER");
  }
  add_own(attributes, report);
  return attributes.take();
}

json::object times_of(const RequestReport& report, Duration start, Duration length) {
  const std::int64_t begun = report.trace->first_byte_ns + start.count();
  return {{"startTimeUnixNano", text_of(begun)},
          {"endTimeUnixNano", text_of(begun + length.count())}};
}

json::object root_span(const RequestReport& report) {
  const RequestTrace& trace = *report.trace;
  json::object span{{"traceId", hex_of(trace.context.trace)},
                    {"spanId", hex_of(trace.context.span)}};
  const bool remote = trace.parent.is_set();
  if (remote) span["parentSpanId"] = hex_of(trace.parent);
  if (!trace.context.state.empty()) span["traceState"] = trace.context.state;
  span["flags"] = flags_of(trace.context) | kParentKnown | (remote ? kParentRemote : 0);
  span["name"] = name_of_root(report);
  span["kind"] = kServer;
  for (auto& [key, value] : times_of(report, Duration{}, report.timings.total)) span[key] = value;
  span["attributes"] = root_attributes(report);
  if (is_server_error(report)) {
    span["status"] = json::object{{"code", kError}, {"message", message_of(report)}};
  }
  return span;
}

json::object stage_span(const RequestReport& report, const TimedStage& stage, Random& ids) {
  const RequestTrace& trace = *report.trace;
  json::object span{{"traceId", hex_of(trace.context.trace)},
                    {"spanId", hex_of(random_id<SpanId>(ids))},
                    {"parentSpanId", hex_of(trace.context.span)}};
  if (!trace.context.state.empty()) span["traceState"] = trace.context.state;
  span["flags"] = flags_of(trace.context) | kParentKnown;
  span["name"] = name_of(stage.kind);
  span["kind"] = kInternal;
  for (auto& [key, value] : times_of(report, stage.start, stage.length)) span[key] = value;
  Attributes attributes;
  if (stage.bytes > Bytes{}) attributes.integer("hearth.bytes", count_of(stage.bytes));
  if (stage.shared) attributes.yes("hearth.shared");
  if (json::array list = attributes.take(); !list.empty()) span["attributes"] = std::move(list);
  return span;
}

json::object resource_json(const Resource& resource) {
  Attributes attributes;
  attributes.text("service.name", resource.service_name)
      .text("service.version", resource.version)
      .text("service.instance.id", resource.instance);
  return {{"attributes", attributes.take()}};
}

}  // namespace

std::string otlp_json(const Resource& resource, std::span<const RequestReport> reports,
                      Random& ids) {
  json::array spans;
  for (const RequestReport& report : reports) {
    spans.push_back(root_span(report));
    for (const TimedStage& stage : report.timings.stages) {
      spans.push_back(stage_span(report, stage, ids));
    }
  }
  json::object scope{{"name", "hearth"}, {"version", resource.version}};
  json::array of_scope;
  of_scope.push_back(json::object{{"scope", std::move(scope)}, {"spans", std::move(spans)}});
  json::array of_resource;
  of_resource.push_back(
      json::object{{"resource", resource_json(resource)}, {"scopeSpans", std::move(of_scope)}});
  return json::serialize(json::object{{"resourceSpans", std::move(of_resource)}});
}

}  // namespace hearth::traces
